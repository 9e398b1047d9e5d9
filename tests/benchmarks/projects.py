"""Projects of many runs and of long ones: opening, adding a run, comparing.

Goals: 1,000 runs of 10⁴ scores open in under 1.5 s, and a run costs the same with 1,000 listed as
with none; 20 runs of 10⁶ scores open in under 2 s and are compared in under 10 s.

    python -m tests.benchmarks.projects [FOLDER] [many|long]
"""

import dataclasses
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from aucstudio.gui.state.plan import Plan
from aucstudio.gui.state.stored_study import read_study
from aucstudio.project.data.splitting.validation import Validation
from aucstudio.project.data.table import read_table
from aucstudio.project.results.documents import named_runs
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiments.experiment import DataReference
from aucstudio.project.runs.experiments.planning import plan_experiment
from aucstudio.project.store.project.project_file import ProjectFile
from tests.conftest import write_table


def template(folder: Path):
    table = read_table(write_table(folder / "study.csv"))
    data = DataReference.to_table(table)
    return execute(plan_experiment(data, "auc-rls", {}, Validation(test_size=0.5)), table)


def drawn(record, rows: int, seed: int):
    """Make a run of so many training and held-out scores; rows are the same for every seed."""
    positive = np.random.default_rng(0).random(rows) < 0.1
    rng = np.random.default_rng(seed)
    numbers = np.arange(rows)
    split = dataclasses.replace(
        record.splits[0],
        train_rows=numbers,
        test_rows=numbers + rows,
        train_positive=positive,
        test_positive=positive,
        train_scores=rng.normal(size=rows) + positive,
        test_scores=rng.normal(size=rows) + (0.9 + 0.01 * (seed % 7)) * positive,
    )
    return dataclasses.replace(record, id=f"run{seed}", splits=(split,))


def took(work) -> tuple[float, object]:
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def make(path: Path, record, runs: int, rows: int) -> list[float]:
    file = ProjectFile.create(path)
    seconds = [took(lambda k=k: file.add_run(drawn(record, rows, k)))[0] for k in range(runs)]
    file.set_plan({"window": Plan().as_json()})
    return seconds


def adding(path: Path, record, rows: int) -> float:
    """Tell what a run costs beyond its making: the median of five."""
    runs = [drawn(record, rows, 10_000 + k) for k in range(5)]
    return float(np.median([took(lambda r=r: ProjectFile(path).add_run(r))[0] for r in runs]))


def measure(folder: Path, name: str, runs: int, rows: int) -> None:
    record, path = template(folder), folder / f"{name}.aucproj"
    seconds = make(path, record, runs, rows)
    print(f"{name}: {runs} runs of {rows:,} scores, {path.stat().st_size / 1e6:,.0f} MB")
    print(f"  add a run: the first ten {1e3 * np.median(seconds[:10]):.0f} ms each, "
          f"the last ten {1e3 * np.median(seconds[-10:]):.0f} ms")  # fmt: skip
    print(f"  open (window): {took(lambda: read_study(path))[0]:.2f} s")
    print(f"  list (compare): {took(lambda: named_runs(path))[0]:.2f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"  peak memory so far: {peak:.2f} GB")
    if runs <= 20:
        for form in ([], ["--json"]):
            command = [sys.executable, "-m", "aucstudio", "compare", str(path), *form]
            began = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True, timeout=600)
            print(f"  aucstudio compare {' '.join(form)}: {time.perf_counter() - began:.1f} s")
    print(f"  add a run now: {1e3 * adding(path, record, rows):.0f} ms")


def main() -> None:
    sizes = {"many": (1_000, 10_000), "long": (20, 1_000_000)}
    chosen = [name for name in sys.argv[1:] if name in sizes] or list(sizes)
    folders = [Path(name) for name in sys.argv[1:] if name not in sizes]
    with tempfile.TemporaryDirectory() as made:
        for name in chosen:
            measure(folders[0] if folders else Path(made), name, *sizes[name])


if __name__ == "__main__":
    main()
