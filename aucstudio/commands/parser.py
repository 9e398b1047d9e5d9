"""The argument parser: commands and general options."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from itertools import takewhile
from typing import Any, NoReturn

from aucstudio import __version__
from aucstudio.boundary import BAD_INPUT
from aucstudio.commands import COMMANDS, command
from aucstudio.commands.options import add
from aucstudio.notices.words import suggestion

GLOBAL_OPTIONS = ("--debug", "--quiet")


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong in one line, and what may have been meant."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Refuse unknown options before missing ones: an unknown one may be a misspelt one."""
        if self._subparsers is None:
            self._refuse([word for word in _options(args or ()) if not self._may_be(word)])
        found, others = super().parse_known_args(args, namespace)
        self._refuse([word for word in others if word.startswith("-")])
        return found, others

    def _may_be(self, word: str) -> bool:
        name = word.partition("=")[0]
        return any(known.startswith(name) for known in self._option_string_actions)

    def _refuse(self, unknown: Sequence[str]) -> None:
        if unknown:
            name = unknown[0].partition("=")[0]
            self.error(f"there is no option {name}{suggestion(name, self._option_string_actions)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as wrong:
            near = suggestion(str(value), map(str, action.choices or ()))
            raise argparse.ArgumentError(action, f"{wrong.message}{near}") from None


def _options(words: Sequence[str]) -> list[str]:
    """Return the long options among words; one with a blank is taken as a value."""
    before = takewhile(lambda word: word != "--", words)
    return [word for word in before if word.startswith("--") and " " not in word]


def window_parser() -> argparse.ArgumentParser:
    parser = OneLineParser(prog="aucstudio", parents=[_global_options()])
    add(parser, {"file FILE": "a table or a project (*.aucproj)"}, nargs="?")
    parser.set_defaults(sample=False, self_test=False)
    return parser


def command_parser(words: Collection[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """Build the parser of all commands.

    Parameters
    ----------
    words : collection of str
        The command line. Only the commands among its words are imported for their options.
    """
    common = _global_options()
    parser = OneLineParser(
        prog="aucstudio",
        parents=[common],
        usage="aucstudio [options] [FILE]\n       aucstudio [options] COMMAND ...",
        description="Train for the ROC curve itself. Without a command: open the window, "
        "on FILE (a table or a project) if one is given.",
        epilog="To begin: aucstudio inspect data.csv, then aucstudio best data.csv --save-model "
        "best.aucmodel. aucstudio COMMAND --help lists the options of a command.",
    )
    parser.add_argument("--version", action="version", version=f"aucstudio {__version__}")
    add(parser, {"--sample": "open the window on a sample study"})
    add(parser, {"--self-test": "test this installation, one line for each part"})
    parser.set_defaults(file=None)
    commands = parser.add_subparsers(
        dest="command", title="commands", metavar="COMMAND", prog="aucstudio"
    )
    for name, purpose in COMMANDS.items():
        sentence = f"{purpose[0].upper()}{purpose[1:]}."
        made = commands.add_parser(name, parents=[common], help=purpose, description=sentence)
        if name in words:
            command(name).add_options(made)
    return parser


def _global_options() -> OneLineParser:
    """Build the options that are accepted before or after a command."""
    common = OneLineParser(add_help=False, argument_default=argparse.SUPPRESS)
    add(common, {"--debug": "print the traceback of an error"}, default=argparse.SUPPRESS)
    quiet = "no progress and no notes on standard error"
    add(common, {"--quiet": quiet}, default=argparse.SUPPRESS)
    return common
