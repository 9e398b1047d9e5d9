"""Syntax trees of the program's modules, read once for all tests of a process."""

import ast
import functools
from pathlib import Path

import aucstudio

PACKAGE = Path(aucstudio.__file__).parent


@functools.cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def nodes(path):
    """Return all nodes of a module, parents before their children."""
    return tuple(ast.walk(parsed(path)))
