"""``aucstudio demo``: run an example study and save its pictures."""

from __future__ import annotations

import argparse
from pathlib import Path

from aucstudio.commands.outcomes import ended
from aucstudio.console import progress, say


def run(options: argparse.Namespace) -> int:
    """Run an example study and save pictures of its pages; return the exit status."""
    from aucstudio.gui.pictures import save_pictures
    from aucstudio.project.examples import run_demo
    from aucstudio.project.results.documents import results_table

    folder = Path(options.out)
    demo = run_demo(folder, options.study, progress("demo"))
    records = [outcome.record for outcome in demo.outcomes]
    say(demo.study.about)
    band = demo.study.experiments[0].band
    say(results_table([r for r in records if r.splits], band))
    pictures = save_pictures(demo.project, folder)
    names = ", ".join(picture.name for picture in pictures.values())
    say(f"{folder}: report.html, {demo.project.name}, {names}")
    return ended(demo.outcomes, len(demo.study.experiments))
