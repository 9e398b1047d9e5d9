"""The commands of the command line, one module each.

A module defines ``run(options)``, which returns the exit status; its options are declared in
``options.toml``. A module is imported only when its command is used.
"""

from __future__ import annotations

import argparse
import importlib

from aucstudio.commands.options import declared

COMMANDS: dict[str, str] = declared()["commands"]
"""Name and help text, in the order of the help."""


def run(name: str, options: argparse.Namespace) -> int:
    """Run a command, or a module that runs like one; returns the exit status."""
    status: int = importlib.import_module(f"{__name__}.{name}").run(options)
    return status
