"""The command line.

Standard output carries results only; progress and complaints go to standard error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from aucstudio.commands import COMMANDS, run
from aucstudio.commands.options import GLOBAL_OPTIONS, check_together, command_parser, window_parser
from aucstudio.console import BAD_INPUT, complain, guarded, session
from aucstudio.notices.words import suggestion
from aucstudio.project.errors import InputError
from aucstudio.project.work import signals

STANDARD_INPUT = "-"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    # Threads of OpenMP that wait by spinning make a fit many times as long on a busy machine. Read
    # when a library is loaded, and handed on to the processes that train.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    arguments = list(sys.argv[1:] if argv is None else argv)
    with session(quiet="--quiet" in arguments), signals.in_order():
        return guarded(lambda: _command(arguments), debug="--debug" in arguments)


def _command(arguments: list[str]) -> int:
    first = next((word for word in arguments if word not in GLOBAL_OPTIONS), None)
    if first is None or not (first in COMMANDS or first.startswith("-")):
        if first is not None and not Path(first).is_file():
            return _refuse(first)
        return run("window", window_parser().parse_args(arguments))
    options = command_parser(arguments).parse_args(arguments)
    if options.self_test:
        return run("self_test", options)
    if options.command is None:
        return run("window", options)
    _check_project_name(options)
    check_together(options)
    if getattr(options, "data", None) == STANDARD_INPUT:
        options.data = str(_standard_input(options))
    return run(options.command, options)


def _check_project_name(options: argparse.Namespace) -> None:
    if getattr(options, "project", None) == STANDARD_INPUT:
        raise InputError(
            "a project is read and written in place, so it cannot be the standard output: name "
            "a file",
            setting="project",
        )


def _standard_input(options: argparse.Namespace) -> Path:
    """Store the table that comes out of a pipe; for good where a project will ask for it."""
    if sys.stdin is None:
        raise InputError("the standard input is closed; name a file to read")
    from aucstudio.project import scratch
    from aucstudio.project.store.workspace import keep_stream, pasted_folder

    lasting = getattr(options, "project", None) is not None
    folder = pasted_folder() if lasting else scratch.make_folder()
    return keep_stream(sys.stdin.buffer, folder)


def _refuse(name: str) -> int:
    """State that something is neither a command nor a file."""
    if near := suggestion(name, COMMANDS):
        complain(f"there is no command {name!r}{near}")
    elif Path(name).name == name and not Path(name).suffix:
        complain(f"there is no command and no file {name!r}: see aucstudio --help")
    else:
        complain(f"there is no file {name}: check the name, or open one from the window")
    return BAD_INPUT
