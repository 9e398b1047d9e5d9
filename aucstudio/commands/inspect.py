"""``aucstudio inspect``: show how a table is imported."""

from __future__ import annotations

import argparse
import gc

from aucstudio.commands.options import read_said
from aucstudio.console import DONE, say, say_json


def run(options: argparse.Namespace) -> int:
    from aucstudio.project.data.findings.inspection import inspection, inspection_lines
    from aucstudio.project.data.table import read_table

    gc.set_threshold(50_000)  # the many objects of a wide table are no garbage
    found = inspection(read_table(options.data, **read_said(options)))
    if options.json:
        say_json(found)
        return DONE
    for line in inspection_lines(found):
        say(line)
    return DONE
