"""Several programs that write one project at the same time."""

from __future__ import annotations

import json
from pathlib import Path

from tests.torture.world import Tally, World, stored_figures


def at_once(folder: Path, tries: int, writers: int = 4) -> Tally:
    """Let several programs add runs to one project, created by the first: none may be lost."""
    tally = Tally(f"{writers} writers at once")
    world = World(folder, tally, ("auc-rls", "logistic"))
    for k in range(tries):
        project = folder / f"shared{k}.aucproj"
        processes = [world.start(*world.run_words(project)) for _ in range(writers)]
        promised = 0
        for process in processes:
            end = world.ended(process, project.name)
            if end.status:
                tally.lose(f"exit {end.status}: {end.err.strip()[-200:]}")
            else:
                promised += len(json.loads(end.out)["runs"])
        found = len(stored_figures(project))
        if found != promised:
            gone = max(0, promised - found)
            tally.lose(f"{promised} runs were promised and {found} are there", gone)
        world.try_ended(project.name)
    return tally
