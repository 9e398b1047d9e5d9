"""``aucstudio inspect``: what the importer understands of a table."""

from __future__ import annotations

import argparse

from aucstudio.boundary import DONE
from aucstudio.commands.table_options import (
    add_column_options,
    add_table,
    read_dialect,
    read_said,
)
from aucstudio.commands.values import add_json
from aucstudio.console import say, say_json


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add_table(parser)
    add_column_options(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from aucstudio.project.data.findings.inspection import inspection, inspection_lines
    from aucstudio.project.data.table import read_table

    table = read_table(
        options.data,
        **read_said(options),
        dialect=read_dialect(options),
    )
    found = inspection(table)
    if options.json:
        say_json(found)
        return DONE
    for line in inspection_lines(found):
        say(line)
    return DONE
