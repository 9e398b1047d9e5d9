"""The greatest difference between a model's scores and those of its exports, for every method.

    python -m tests.benchmarks.exports

Models are trained on two tables and score rows with missing values, numbers in other spellings,
unseen levels, far cells, dates and times of day (the rows of the tests of exports). Differences are
relative to the largest score of a model. "–" marks what a format refuses.
"""

import tempfile
import warnings
from pathlib import Path

import numpy as np

from aucstudio.engine import METHODS
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.store.export import export_model
from tests.conftest import write_table
from tests.project import test_export as exported
from tests.project import test_export_sql as dated


def sql_scores(run, rows):
    def scores(model, _table, folder):
        export_model(model, "sql", folder / "model.sql")
        return run(rows, (folder / "model.sql").read_text(encoding="utf-8"))["score"].astype(float)

    return scores


def script_scores(model, table, folder):
    return exported.script_scores(model, table.path, folder)


def differences(table, rows, formats, method, folder):
    """Return the greatest relative difference by format; None where the method is refused."""
    plan = plan_experiment(DataReference.to_table(table), method, {}, Validation(test_size=0.3))
    record = execute(plan, table)
    if record.error:
        return dict.fromkeys(formats)
    model = record.splits[0].model
    new = read_table(rows, need_label=False, schema=model.schema)
    expected = model.score(new)
    found = {}
    for name, scores_of in formats.items():
        try:
            off = np.abs(scores_of(model, new, folder) - expected).max()
            found[name] = off / np.abs(expected).max()
        except InputError:
            found[name] = None
    return found


def main():
    folder = Path(tempfile.mkdtemp())
    plain = read_table(write_table(folder / "plain.csv"))
    odd = exported.write_odd_file(folder / "odd.csv")
    dates = dated.read_study(folder / "dates.csv")
    rows = dated.new_rows()
    new = dated.write_rows(folder / "new.csv", rows)
    graph = {"script": script_scores, "onnx": exported.graph_scores}
    databases = {"duckdb": dated.in_duckdb, "sqlite": dated.in_sqlite}
    tables = (
        (plain, odd, graph | {"json": exported.formula_scores}),
        (dates, new, graph | {name: sql_scores(run, rows) for name, run in databases.items()}),
    )
    print(f"{'':<20}" + "".join(f"{name:>12}" for _, _, formats in tables for name in formats))
    worst = []
    for method in METHODS:
        line = [differences(*table, method, folder) for table in tables]
        cells = [value for found in line for value in found.values()]
        worst += [value for value in cells if value is not None]
        shown = "".join(f"{'–' if value is None else f'{value:.1e}':>12}" for value in cells)
        print(f"{method:<20}{shown}", flush=True)
    print(f"greatest difference: {max(worst):.1e}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
