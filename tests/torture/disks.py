"""Disks that fill or fail, and folders that are deleted while a run is written into them."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

from aucstudio.project.errors import InputError
from aucstudio.project.runs.scoring import read_to_score, scores_of
from aucstudio.project.store.model_file import load_model
from tests.torture.world import Ended, Tally, World, stored_figures


def layer(folder: Path, name: str = "failing") -> Path | None:
    """Build the preloaded library that makes calls fail; None without a compiler."""
    source = str(Path(__file__).with_name(f"{name}.c"))
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    built = folder / f"{name}.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", str(built), source, "-ldl"],
        check=True,
        capture_output=True,
    )
    return built


def each_call_once(folder: Path, most: int) -> Tally:
    """Make each write, sync, rename and unlink fail once; an even sample if there are many."""
    return _failing(Tally("each write, sync, unlink fails once"), folder, most, for_good=False)


def full_disk(folder: Path, most: int) -> Tally:
    """Make the disk full from some write on."""
    return _failing(Tally("full disk from some write on"), folder, most, for_good=True)


def _failing(tally: Tally, folder: Path, most: int, *, for_good: bool) -> Tally:
    built = layer(folder / "layer")
    if built is None:
        tally.note("not run: there is no C compiler")
        return tally
    world = World(folder / "world", tally, ())
    disk = folder / "world" / "disk"
    disk.mkdir()
    project = disk / "kept.aucproj"
    model = disk / "kept.aucmodel"
    words = ["train", "study.csv", "--method", "rls", "--project", str(project)]
    words += ["--save-model", str(model), "--json"]
    first = world.command(*words)
    if first.status or not model.is_file():
        tally.lose(f"the study could not be made: {first.err.strip()[-200:]}")
        return tally
    before = project.read_bytes(), model.read_bytes()
    true = stored_figures(project)
    for number in _numbers(world, built, disk, folder / "count", words, most):
        project.write_bytes(before[0])
        model.write_bytes(before[1])
        more = {"LD_PRELOAD": str(built), "FAIL_UNDER": str(disk), "FAIL_AT": str(number)}
        end = world.command(*words, more=more | {"FAIL_ON": "1" if for_good else ""})
        tally.tries += 1
        _judge(world, end, disk, (project, model), true, f"call {number}")
    return tally


def _numbers(
    world: World, built: Path, disk: Path, count: Path, words: list[str], most: int
) -> list[int]:
    """Count the calls of an undisturbed command, and choose which ones fail."""
    more = {"LD_PRELOAD": str(built), "FAIL_UNDER": str(disk), "FAIL_AT": "0"}
    world.command(*words, more=more | {"FAIL_COUNT": str(count)})
    calls = max(map(int, count.read_text().split()))
    if calls <= most:
        return list(range(1, calls + 1))
    return sorted({1 + round(k * (calls - 1) / max(1, most - 1)) for k in range(most)})


def _judge(
    world: World,
    end: Ended,
    disk: Path,
    files: tuple[Path, Path],
    true: dict[str, tuple[object, ...]],
    where: str,
) -> None:
    (project, model), tally = files, world.tally
    if not end.out.strip():
        tally.lose(f"{where}: the result was not printed (exit {end.status}): {end.err[-200:]}")
    now, trouble = dict[str, tuple[object, ...]](), ""
    try:
        now = stored_figures(project)
    except InputError as error:
        trouble = str(error)
    lost = [run for run in true if now.get(run) != true[run]]
    if lost:
        tally.lose(f"{where}: {len(lost)} runs lost; {trouble}", len(lost))
    if not end.status and len(now) <= len(true):
        tally.mislead(f"{where}: exit 0, and the run is not in the project")
    try:
        loaded = load_model(model)
        scores_of(loaded, read_to_score(loaded, world.folder / "study.csv"))
    except InputError as error:
        tally.lose(f"{where}: the model is gone: {error}")
    world.count_orphans()
    extra = [p.name for p in disk.iterdir() if p not in files]
    known = [name for name in extra if name.endswith("-journal")]
    rest = [name for name in extra if name not in known]
    # A file whose unlink failed remains as a hidden file, as the trial intends.
    shown = [name for name in rest if not name.startswith(".")]
    tally.left += len(shown)
    tally.notes += [f"{where}: left behind {name}" for name in shown[:1]]
    for path in disk.iterdir():
        if path not in files:
            path.unlink()


def lost_folder(folder: Path, tries: int) -> Tally:
    """Delete the project's folder during a run."""
    tally = Tally("the project's folder goes away")
    world = World(folder, tally, ("auc-rls", "svm-auc"), rows=400)
    for k in range(tries):
        disk = folder / f"disk{k}"
        disk.mkdir()
        project = disk / "kept.aucproj"
        process = world.start(*world.run_words(project))
        limit = time.monotonic() + 60
        while not project.exists() and process.poll() is None and time.monotonic() < limit:
            time.sleep(0.01)
        shutil.rmtree(disk, ignore_errors=True)
        end = world.ended(process, disk.name)
        if not end.out.strip():
            tally.lose(f"nothing printed (exit {end.status}): {end.err.strip()[-200:]}")
        if end.status == 0 and not project.exists():
            tally.mislead("exit 0 although the project is gone")
        world.try_ended(disk.name)
    return tally
