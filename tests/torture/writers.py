"""Several programs that write one project at the same time."""

from __future__ import annotations

import json
from pathlib import Path

from tests.torture.world import Tally, World, ended


def at_once(folder: Path, tries: int, writers: int = 4) -> Tally:
    """Let several programs add runs to one project, created by the first: none may be lost."""
    tally = Tally(f"{writers} writers at once")
    world = World(folder, ("auc-rls", "logistic"))
    for k in range(tries):
        project = str(folder / f"shared{k}.aucproj")
        processes = [
            world.start("run", "study.toml", "--project", project, "--json") for _ in range(writers)
        ]
        promised = 0
        for process in processes:
            end = ended(process)
            tally.tracebacks += end.traceback
            if end.status:
                tally.lost += 1
                tally.note(f"exit {end.status}: {end.err.strip()[-200:]}")
            else:
                promised += len(json.loads(end.out)["runs"])
        tally.tries += 1
        end = world.command("compare", project, "--json")
        tally.tracebacks += end.traceback
        found = len(json.loads(end.out)["runs"]) if not end.status else 0
        if found != promised:
            tally.lost += max(0, promised - found)
            tally.note(f"{promised} runs were promised and {found} are there")
        tally.orphans += len(world.orphans())
    left = world.left()
    tally.left += len(left)
    return tally
