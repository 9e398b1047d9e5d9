"""Flip single bits of a project and of a model: each is reported or has no effect."""

from __future__ import annotations

import contextlib
import io
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aucstudio.cli import main
from aucstudio.project.scratch import BoundedCache
from aucstudio.project.store.project import database as source
from tests.torture.world import Ended, Tally, World

_SLOW = 30.0


def call(*words: str) -> Ended:
    """Run the command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(list(words))
        except BaseException as error:  # noqa: BLE001  (an escaping exception is what the trial looks for)
            return Ended(1, out.getvalue(), f"Traceback (most recent call last) {error!r}")
    return Ended(status, out.getvalue(), err.getvalue())


def of_project(folder: Path, tries: int, seed: int = 0) -> Tally:
    """Flip bits of a project: the output of ``compare`` must be correct or come with a warning."""
    tally = Tally("bit flips of a project")
    World(folder, tally, ("auc-rls", "logistic", "svm-auc"))
    path = folder / "whole.aucproj"
    call("run", str(folder / "study.toml"), "--project", str(path), "--json")
    damaged = folder / "damaged.aucproj"
    return _flipped(
        tally,
        path.read_bytes(),
        damaged,
        lambda: _compared(damaged),
        _reported_runs,
        tries,
        seed,
    )


def _compared(project: Path) -> Ended:
    # Results cached for the intact project must not be reused for the damaged one.
    source.shared_cache = BoundedCache(1 << 28)
    return call("compare", str(project), "--json")


def of_model(folder: Path, tries: int, seed: int = 0) -> Tally:
    """Flip bits of a model: its scores must be the same, or the model rejected."""
    tally = Tally("bit flips of a model")
    World(folder, tally, ("auc-rls",))
    table, path = folder / "study.csv", folder / "whole.aucmodel"
    call("train", str(table), "--method", "rank-svm", "--save-model", str(path), "--json")
    damaged = folder / "damaged.aucmodel"
    return _flipped(
        tally,
        path.read_bytes(),
        damaged,
        lambda: call("score", str(damaged), str(table), "--json"),
        lambda document: {"all": json.dumps(document, sort_keys=True)},
        tries,
        seed,
    )


def _reported_runs(document: dict[str, Any]) -> dict[str, str]:
    reported = {run["id"]: json.dumps(run, sort_keys=True) for run in document["runs"]}
    pairs = json.dumps(document["pairs"], sort_keys=True)
    # Pairs follow from the runs: there may be fewer if a run is damaged and reported.
    return reported | {"pairs": pairs, "range": json.dumps(document["fpr_range"])}


def _flipped(
    tally: Tally,
    whole: bytes,
    damaged: Path,
    ask: Callable[[], Ended],
    reported: Callable[[dict[str, Any]], dict[str, str]],
    tries: int,
    seed: int,
) -> Tally:
    drawn = random.Random(seed)
    damaged.write_bytes(whole)
    true = reported(json.loads(ask().out))
    counts = {"refused": 0, "warned": 0, "same": 0}
    for _ in range(tries):
        place, bit = drawn.randrange(len(whole)), drawn.randrange(8)
        changed = bytearray(whole)
        changed[place] ^= 1 << bit
        damaged.write_bytes(changed)
        began = time.monotonic()
        end = ask()
        tally.tries += 1
        tally.tracebacks += end.traceback
        if time.monotonic() - began > _SLOW:
            tally.note(f"slow: byte {place} bit {bit}")
        if end.traceback:
            tally.note(f"byte {place} bit {bit}: {end.err.strip()[-200:]}")
        counts[_verdict(end, true, reported, tally, f"byte {place} bit {bit}")] += 1
    tally.notes.insert(0, ", ".join(f"{count} {how}" for how, count in counts.items()))
    return tally


def _verdict(
    end: Ended,
    true: dict[str, str],
    reported: Callable[[dict[str, Any]], dict[str, str]],
    tally: Tally,
    where: str,
) -> str:
    if end.status not in (0, 1) or not end.out.strip():
        if not end.err.strip():
            tally.mislead(f"{where}: refused without a word")
        return "refused"
    found = reported(json.loads(end.out))
    if found == true:
        return "same"
    if end.err.strip():
        # Results still reported must be correct; missing ones were named.
        wrong = [key for key in found if key in true and key not in ("pairs",)]
        if any(found[key] != true[key] for key in wrong):
            tally.mislead(f"{where}: a figure changed beside a warning: {end.err.strip()[:120]}")
        return "warned"
    tally.mislead(f"{where}: other figures, nothing said")
    return "warned"
