"""A long CSV file into arrays: processor time, seconds and peak memory, as multiples of DuckDB's.

The file has nine columns of numbers, two of texts and a label, or eleven of numbers and a label.
Each reading is a process of its own; the two take turns, so that what else the machine does
weighs on both. DuckDB's own time is that of ``fetchnumpy`` on what its sniffer finds.

    python -m tests.benchmarks.reading [--rows N] [--rounds R] [--kind mixed|numbers]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

CODE = """
import json, resource, sys, time
who, path = sys.argv[1:]
if who == "duckdb":
    import duckdb
    read = lambda: duckdb.connect().sql(f"SELECT * FROM read_csv('{path}')").fetchnumpy()
else:
    import duckdb, nanoarrow
    from aucstudio.project.data.table import read_table
    read = lambda: read_table(path)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
wall, processor = time.perf_counter(), time.process_time()
found = read()
wall, processor = time.perf_counter() - wall, time.process_time() - processor
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
arrays = 0 if who == "duckdb" else sum(column.values.nbytes for column in found.columns)
print(json.dumps([processor, wall, 1024 * peak, arrays]))
"""


def make_table(path, rows, kind):
    numbers = 9 if kind == "mixed" else 11
    columns = [f"random() * {10 ** (k % 5)} - 0.5 AS x{k}" for k in range(numbers - 2)]
    columns += ["(random() * 90)::INT AS age", "round(random() * 100, 2) AS amount"]
    if kind == "mixed":
        regions = "['north', 'south', 'east', 'west', 'upper part']"
        columns += [f"{regions}[1 + (random() * 4.99)::INT % 5] AS region"]
        columns += ["'P' || lpad((random() * 5000)::INT::VARCHAR, 6, '0') AS branch"]
    columns += ["CASE WHEN random() < .1 THEN 'yes' ELSE 'no' END AS outcome"]
    with duckdb.connect() as base:
        base.execute(f"COPY (SELECT {', '.join(columns)} FROM range({rows})) TO '{path}'")


def measure(who, path):
    words = [sys.executable, "-c", CODE, who, str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return json.loads(done.stdout[done.stdout.rindex("[") :])  # a progress bar may come before


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_500_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kind", choices=("mixed", "numbers"), default="mixed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="aucstudio-benchmark-") as folder:
        path = Path(folder) / "table.csv"
        make_table(path, options.rows, options.kind)
        print(f"{options.rows:,} rows, {os.path.getsize(path) / 1e6:,.0f} MB, {options.kind}")
        ratios = []
        for _ in range(options.rounds):
            theirs, ours = measure("duckdb", path), measure("ours", path)
            ratios.append([ours[0] / theirs[0], ours[1] / theirs[1], ours[2] / ours[3]])
            print(
                f"processor {theirs[0]:6.2f} {ours[0]:6.2f} s   wall {theirs[1]:6.2f} "
                f"{ours[1]:6.2f} s   peak {theirs[2] / 1e9:5.2f} {ours[2] / 1e9:5.2f} GB",
                flush=True,
            )
        processor, wall, peak = map(statistics.median, zip(*ratios, strict=True))
        print(f"/ DuckDB: processor {processor:.2f}, wall {wall:.2f}; peak / arrays {peak:.2f}")


if __name__ == "__main__":
    main()
