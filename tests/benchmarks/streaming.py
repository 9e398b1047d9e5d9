"""Training on a table larger than the memory that may be used: peak memory, passes, seconds.

The table is made on the fly as Parquet; its size is that of its numbers in double precision, of
which the file takes about a sixth. Each method runs in a process of its own whose data segment is
limited (RLIMIT_DATA: heap and private pages). The address space is not: compilers and BLAS reserve
far more of it than they ever touch. What was touched at the most is read from the system.

    python -m tests.benchmarks.streaming [--gigabytes G] [--features D] [--limit BYTES]
                                         [--block-size SIZE] [--set NAME=VALUE]... [METHOD ...]
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

METHODS = ("auc-rls", "rank-svm", "nbauc", "nsauc")


def make_table(path, gigabytes, features):
    """Write rows of features in [-1, 1] by thousandths, and a label with about 10 % positives."""
    rows = int(gigabytes * 1e9 / 8 / features)
    columns = ", ".join(f"round(2 * random() - 1, 3) AS x{k}" for k in range(features))
    label = "(x0 + 0.5 * x1 - 0.5 * x2 * x2 + random() > 1.35)::INT AS y"
    with duckdb.connect(config={"memory_limit": "2GB", "temp_directory": str(path.parent)}) as base:
        base.execute("SET preserve_insertion_order = false")
        base.execute(
            f"COPY (SELECT *, {label} FROM (SELECT {columns} FROM range({rows}))) TO '{path}'"
        )
    return rows


def child(data, method, limit, block_size, settings):
    """Train under the limit, and tell what it took."""
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    from aucstudio.cli import main
    from aucstudio.project.data.disk.stream import DiskTable

    read, window = [0], DiskTable.window

    def counted(self, start, stop, names=None):
        read[0] += stop - start
        return window(self, start, stop, names)

    DiskTable.window = counted
    words = [word for setting in settings for word in ("--set", setting)]
    words += ["--stream", "--block-size", block_size, "--json"]
    status = main(["train", data, "--label", "y", "--method", method, *words])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    sys.stderr.write(json.dumps({"status": status, "peak": peak, "rows_read": read[0]}) + "\n")


def measure(data, method, options, rows):
    """Run a child and print a line about it."""
    began = time.perf_counter()
    words = [sys.executable, "-m", __spec__.name, "--child", data, method]
    words += ["--limit", str(options.limit), "--block-size", options.block_size]
    words += [word for setting in options.set for word in ("--set", setting)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    lines = done.stderr.strip().splitlines() or [""]
    if not lines[-1].startswith("{"):
        print(f"{method:9} failed after {seconds:.0f} s: {lines[-1]}")
        return
    told = json.loads(lines[-1])
    if told["status"]:
        print(f"{method:9} ended with status {told['status']}: {lines[0]}")
        return
    (run,) = json.loads(done.stdout)["runs"]
    print(
        f"{method:9} peak {told['peak'] / 1e9:5.2f} GB  {told['rows_read'] / rows:6.1f} passes  "
        f"{seconds:7.0f} s, {run['fit_seconds']:7.0f} s of it fitting  "
        f"AUC {run['auc']['value']:.4f}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("methods", nargs="*", default=METHODS)
    parser.add_argument("--gigabytes", type=float, default=0.2)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--limit", type=int, default=2 * 2**30)
    parser.add_argument("--block-size", default="64M")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--child", nargs=2)
    options = parser.parse_args()
    if options.child:
        child(*options.child, options.limit, options.block_size, options.set)
        return
    with tempfile.TemporaryDirectory(prefix="aucstudio-benchmark-") as folder:
        path = Path(folder) / "table.parquet"
        began = time.perf_counter()
        rows = make_table(path, options.gigabytes, options.features)
        print(
            f"{rows:,} rows, {options.features} features, {options.gigabytes:g} GB as doubles, "
            f"{os.path.getsize(path) / 1e9:.2f} GB on disk, made in "
            f"{time.perf_counter() - began:.0f} s; limit {options.limit / 1e9:.2f} GB, "
            f"blocks of {options.block_size}",
            flush=True,
        )
        for method in options.methods:
            measure(str(path), method, options, rows)


if __name__ == "__main__":
    main()
