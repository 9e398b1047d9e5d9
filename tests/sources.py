"""Syntax trees of the program's modules, read once for all tests of a process."""

import ast
import functools
import gc
from pathlib import Path

import aucstudio

PACKAGE = Path(aucstudio.__file__).parent


@functools.cache
def _trees():
    """Parse all modules; the collector passes over their million nodes from then on."""
    enabled = gc.isenabled()
    gc.disable()
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}
    found = {path: (tree, tuple(ast.walk(tree))) for path, tree in trees.items()}
    gc.freeze()
    if enabled:
        gc.enable()
    return found


def parsed(path):
    return _trees()[path][0]


def nodes(path):
    """Return all nodes of a module, parents before their children."""
    return _trees()[path][1]
