"""``aucstudio check``: check a project, model or experiment file for damage."""

from __future__ import annotations

import argparse

from aucstudio.console import DONE, RUN_FAILED, say, say_json


def run(options: argparse.Namespace) -> int:
    from aucstudio.project.store.check import check_file

    checked = check_file(options.file, repair=options.repair, target=options.output)
    if options.json:
        say_json(checked.as_json())
    else:
        say(checked.describe())
    return RUN_FAILED if checked.problems else DONE
