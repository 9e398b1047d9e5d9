"""How near the estimates of memory and time come to what fits take: estimate over measurement.

Run as ``python -m tests.benchmarks.cost``; Linux only, for it reads the peak of each child process.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from aucstudio.engine import METHODS

LARGE = 20e6  # memory below this is not judged: the interpreter's own comes and goes

TALL, MIDDLE, BROAD = (40_000, 50), (8_000, 400), (500, 8_000)
RBF = {"kernel": "rbf"}

CASES = [
    *((key, shape, {}) for key in ("auc-rls", "rls") for shape in (TALL, (4_000, 1_500), BROAD)),
    *((key, (rows, 20), RBF) for key in ("auc-rls", "rls", "svm-2norm") for rows in (1_500, 3_000)),
    *((key, (1_600, 20), {}) for key in ("auc-svm", "roc-svm", "sauc-svm")),
    *((key, TALL, {}) for key in ("auc-svm", "sauc-svm")),
    ("auc-svm", (1_200, 20), RBF),
    ("sauc-svm", (1_200, 20), RBF),
    ("roc-svm", BROAD, {}),
    *((key, (3_000, 20), {"n_neighbors": 10}) for key in ("auc-svm", "sauc-svm")),
    *((key, (3_000, 20), {"n_neighbors": 10, **RBF}) for key in ("auc-svm", "sauc-svm")),
    *(
        (key, shape, {})
        for key in ("svm-auc", "svm-pauc", "svm-pauc-tight")
        for shape in (TALL, MIDDLE)
    ),
    ("svm-auc", (2_000, 20), RBF),
    ("svm-pauc", (20_000, 20), RBF),
    ("asvm", (5_000, 20), {}),
    ("asvm", (900, 20), RBF),
    ("pauc-boost", (10_000, 20), {"n_rounds": 50}),
    ("pauc-boost", (2_000, 100), {"n_rounds": 50}),
    ("greedy-pauc", (20_000, 8), {}),
    ("greedy-pauc", (1_000, 20), {}),
    ("rankboost", TALL, {}),
    ("rankboost", MIDDLE, {}),
    ("auc-split", TALL, {}),
    ("auc-split", MIDDLE, {}),
    ("rank-svm", TALL, {}),
    ("rank-svm", MIDDLE, {}),
    ("kernel-rank-svm", (1_500, 20), {}),
    ("kernel-rank-svm", (4_000, 20), {}),
    ("nbauc", (20_000, 20), {}),
    ("nbauc", (40_000, 20), {"n_landmarks": 100}),
    ("rf-auc", (20_000, 20), {}),
    *((key, (20_000, 20), {}) for key in ("nsauc", "nsvmsgd2", "noam", "nsolam")),
    *((key, TALL, {"kernel": "linear"}) for key in ("nsauc", "nsolam")),
    ("svm", (3_000, 20), {}),
    ("svm", (6_000, 20), RBF),
    ("svm-2norm", TALL, {}),
    ("logistic", TALL, {}),
    ("logistic", MIDDLE, {}),
    ("gradient-boosting", TALL, {}),
    ("gradient-boosting", MIDDLE, {}),
]


def make(rows: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw two overlapping classes, a quarter of the rows positive."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, features))
    y = np.arange(rows) % 4 == 0
    X[y] += 1.5 / np.sqrt(features)
    return X, y


def memory(field: str) -> int:
    """Read a field of this process's status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return 1024 * int(line.split()[1])
    raise LookupError(field)


def measure(key: str, shape: tuple[int, int], settings: dict) -> dict[str, float]:
    """Fit once on few rows, to load what is loaded once (compiled code), then for the record."""
    method = METHODS[key](**settings)
    X, y = make(min(shape[0], 700), shape[1])
    method.fit(X, y)
    X, y = make(*shape)
    cost = method.estimate(int(y.sum()), int((~y).sum()), shape[1])
    ctypes.CDLL(None).malloc_trim(0)  # memory kept for reuse would hide what the fit takes
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before, began = memory("VmRSS"), time.perf_counter()
    method.fit(X, y)
    seconds = time.perf_counter() - began
    return {
        "bytes": memory("VmHWM") - before,
        "seconds": seconds,
        "steps": getattr(method, "n_iter_", 0) or 0,
        "bytes_estimate": cost.bytes,
        "seconds_estimate": cost.seconds or float("nan"),
    }


def in_child(case: tuple) -> dict[str, float]:
    """Measure in a process of its own."""
    code = [sys.executable, "-m", "tests.benchmarks.cost", json.dumps(case)]
    done = subprocess.run(code, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(done.stderr[-500:])
    return json.loads(done.stdout)


def near(ratios: list[float]) -> str:
    """Count those within a factor of two."""
    good = sum(0.5 <= ratio <= 2.0 for ratio in ratios)
    return f"{good} of {len(ratios)} within a factor of two"


def main() -> None:
    """Print a line for each case and a count."""
    large, slow = [], []
    head = f"{'method':17} {'rows':>6} {'d':>5} {'MB':>7} {'est/MB':>6} {'s':>7} {'est/s':>6} steps"
    print(head)
    for case in CASES:
        key, shape, settings = case
        try:
            m = in_child(case)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(key, *shape, settings, error, flush=True)
            continue
        in_bytes = m["bytes_estimate"] / max(m["bytes"], 1e6)
        in_seconds = m["seconds_estimate"] / m["seconds"]
        if max(m["bytes"], m["bytes_estimate"]) > LARGE:
            large.append(in_bytes)
        if not np.isnan(in_seconds):
            slow.append(in_seconds)
        text = f"{key:17} {shape[0]:6} {shape[1]:5} {m['bytes'] / 1e6:7.1f} {in_bytes:6.2f} "
        text += f"{m['seconds']:7.3f} {in_seconds:6.2f} {m['steps']:5.0f}"
        print(text, *settings.values(), flush=True)
    print(f"memory above {LARGE / 1e6:.0f} MB: {near(large)}; time: {near(slow)}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        with threadpool_limits(max(1, (os.cpu_count() or 1) - 1)):  # as a run does
            print(json.dumps(measure(*json.loads(sys.argv[1]))))
    else:
        main()
