"""``aucstudio check``: what is wrong with a file of ours."""

from __future__ import annotations

import argparse

from aucstudio.boundary import DONE, RUN_FAILED
from aucstudio.commands.values import add_json
from aucstudio.console import say, say_json
from aucstudio.project.errors import InputError


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("file", metavar="FILE", help="*.aucproj, *.aucmodel or *.toml")
    parser.add_argument(
        "--repair",
        action="store_true",
        help="write what can be read of a project into a new one; FILE is unchanged",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the new project (default NAME.repaired.aucproj)"
    )
    add_json(parser)


def check_together(options: argparse.Namespace) -> None:
    """Refuse options that would be without effect beside the others."""
    if options.output and not options.repair:
        raise InputError(
            "-o names the new project that --repair writes: give --repair too, or leave it out",
            setting="output",
        )


def run(options: argparse.Namespace) -> int:
    from aucstudio.project.store.check import check_file

    checked = check_file(options.file, repair=options.repair, target=options.output)
    if options.json:
        say_json(checked.as_json())
    else:
        say(checked.describe())
    return RUN_FAILED if checked.problems else DONE
