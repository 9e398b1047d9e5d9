"""Run the trials and print their table.

    python -m tests.torture [--short | --tries N] [NAME ...]

The full form takes most of an hour on two cores; ``--short`` a few minutes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.torture import disks, flips, kills, odd, window, writers
from tests.torture.world import Tally

# Name, trial, tries in the full form and in the short form.
TRIALS: dict[str, tuple[Callable[[Path, int], Tally], int, int]] = {
    "kill-run": (kills.of_run, 200, 2),
    "kill-creation": (kills.inside_creation, 100, 8),
    "kill-parent": (kills.of_parent, 20, 2),
    "flip-project": (flips.of_project, 500, 25),
    "flip-model": (flips.of_model, 500, 60),
    "writers": (writers.at_once, 8, 1),
    "failing-call": (disks.each_call_once, 150, 2),
    "full-disk": (disks.full_disk, 60, 1),
    "lost-folder": (disks.lost_folder, 10, 1),
    "project-moves": (odd.project_moves, 30, 3),
    "table-changes": (odd.table_changes, 30, 1),
    "read-only-home": (odd.read_only_home, 6, 2),
    "odd-names": (odd.odd_names, 10, 1),
    "clock-back": (odd.clock_back, 30, 1),
}
# Trials that need much time or disk space; they run only when named.
SLOW: dict[str, tuple[Callable[[Path, int], Tally], int, int]] = {
    "many-runs": (odd.many_runs, 1_000, 100),
    "large-project": (odd.large_project, 1, 1),
    "window": (window.at_work, 3_600, 60),  # seconds
}


def run_trial(name: str, folder: Path, short: bool, tries: int | None = None) -> Tally:
    """Run one kind of trial."""
    trial, whole, few = (TRIALS | SLOW)[name]
    began = time.monotonic()
    tally = trial(folder / name, tries or (few if short else whole))
    tally.seconds = time.monotonic() - began
    return tally


def row(tally: Tally) -> str:
    """Return a line of the table."""
    cells = (
        tally.what, tally.tries, tally.lost, tally.silent, tally.tracebacks, tally.orphans,
        tally.left, f"{tally.seconds:.0f}",
    )  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(TRIALS | SLOW))
    parser.add_argument("--tries", type=int, help="of each kind")
    parser.add_argument("--short", action="store_true", help="few tries of each kind")
    options = parser.parse_args()
    say = sys.stdout.write
    say("| trial | tries | lost | silent | tracebacks | orphans | left | s |\n")
    say("|---|---|---|---|---|---|---|---|\n")
    clean = True
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        for name in options.names or TRIALS:
            tally = run_trial(name, Path(folder), options.short, options.tries)
            say(row(tally) + "\n")
            for note in tally.notes:
                say(f"    {note}\n")
            sys.stdout.flush()
            clean = clean and tally.clean
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
