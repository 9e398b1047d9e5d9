"""``aucstudio check``: check a project, model or experiment file for damage."""

from __future__ import annotations

import argparse

from aucstudio.boundary import DONE, RUN_FAILED
from aucstudio.commands.options import JSON, add
from aucstudio.console import say, say_json

NEEDS = {"output": "repair"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    repair = "write what can be read of a project into a new one; FILE is unchanged"
    add(parser, {"file FILE": "*.aucproj, *.aucmodel or *.toml", "--repair": repair})
    add(parser, {"--output FILE": "the new project (default NAME.repaired.aucproj)"}, "-o")
    add(parser, JSON)


def run(options: argparse.Namespace) -> int:
    from aucstudio.project.store.check import check_file

    checked = check_file(options.file, repair=options.repair, target=options.output)
    if options.json:
        say_json(checked.as_json())
    else:
        say(checked.describe())
    return RUN_FAILED if checked.problems else DONE
