"""What the command line takes: the commands and what stands beside any of them."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from aucstudio import __version__
from aucstudio.boundary import BAD_INPUT
from aucstudio.commands import NAMES, command
from aucstudio.project.words import suggestion

GLOBAL_OPTIONS = ("--debug", "--quiet")


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong in one line, and what may have been meant."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Refuse unknown options here: the parser of a command knows which it has."""
        found, others = super().parse_known_args(args, namespace)
        unknown = [word.partition("=")[0] for word in others if word.startswith("-")]
        if unknown:
            near = suggestion(unknown[0], self._option_string_actions)
            self.error(f"there is no option {unknown[0]}{near}")
        return found, others


def window_parser() -> argparse.ArgumentParser:
    parser = OneLineParser(prog="aucstudio", parents=[_global_options()])
    parser.add_argument("file", nargs="?", metavar="FILE", help="a table or a project (*.aucproj)")
    parser.set_defaults(sample=False)
    return parser


def command_parser() -> argparse.ArgumentParser:
    """Make the parser of all commands."""
    common = _global_options()
    parser = OneLineParser(
        prog="aucstudio",
        parents=[common],
        usage="aucstudio [options] [FILE]\n       aucstudio [options] COMMAND ...",
        description="Train for the ROC curve itself. Without a command: open the window, "
        "on FILE (a table or a project) if one is given.",
        epilog="To begin: aucstudio inspect data.csv, then aucstudio best data.csv --save-model "
        "best.aucmodel. aucstudio COMMAND --help tells of a command's options.",
    )
    parser.add_argument("--version", action="version", version=f"aucstudio {__version__}")
    parser.add_argument("--sample", action="store_true", help="open the window on a sample study")
    parser.set_defaults(file=None)
    commands = parser.add_subparsers(
        dest="command", title="commands", metavar="COMMAND", prog="aucstudio"
    )
    for name in NAMES:
        words = command(name).IN_WORDS
        sentence = f"{words[0].upper()}{words[1:]}."
        made = commands.add_parser(name, parents=[common], help=words, description=sentence)
        command(name).add_options(made)
    return parser


def _global_options() -> OneLineParser:
    """Make what stands before a command or after it."""
    common = OneLineParser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument("--debug", action="store_true", help="print the trace of what went wrong")
    common.add_argument(
        "--quiet", action="store_true", help="no progress and no notes on standard error"
    )
    return common
