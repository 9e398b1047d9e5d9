"""The command line's commands, one module each: what it is for, its options, what it does.

A module holds ``IN_WORDS``, ``add_options(parser)`` and ``run(options)``, which gives the exit
status; one whose options depend on each other has ``check_together(options)`` as well.
"""

from __future__ import annotations

import importlib
from types import ModuleType

# In the order of the help.
NAMES = (
    "inspect",
    "train",
    "best",
    "run",
    "compare",
    "combine",
    "verify",
    "score",
    "explain",
    "export",
    "check",
    "methods",
    "demo",
)


def command(name: str) -> ModuleType:
    """Give the module of a command."""
    return importlib.import_module(f"{__name__}.{name}")
