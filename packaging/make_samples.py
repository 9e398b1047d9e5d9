#!/usr/bin/env python3
"""Make the sample tables in ``resources/samples`` from their recipes beside this script.

A recipe says its ``kind``: columns that follow a shared factor, clouds of normal distributions, or
rows spelled out.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
Settings = Mapping[str, Any]
# Each table by its name: a column's cells by the column's name.
Tables = dict[str, dict[str, Sequence[str]]]


def main() -> None:
    """Write every table as CSV, in a folder for each study."""
    for recipe in sorted((HERE / "samples").glob("*.toml")):
        settings = tomllib.loads(recipe.read_text(encoding="utf-8"))
        for title, columns in _KINDS[settings["kind"]](settings).items():
            path = HERE.parent / "resources" / "samples" / recipe.stem / f"{title}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(columns)
                writer.writerows(zip(*columns.values(), strict=True))


# ------------------------------------------------------------------------ columns


def _columns(settings: Settings) -> Tables:
    rng = np.random.default_rng(settings["seed"])
    rows = settings["rows"]
    rare = np.arange(rows) < round(rows * settings["positive_share"])
    rng.shuffle(rare)
    # Columns that share a factor are correlated within the classes: that is what separates
    # methods which look at the spread of the differences from those which do not.
    factor = rng.normal(size=(rows,))
    columns: dict[str, Sequence[str]] = {
        c["name"]: _numbers(c, rare, factor, rng, settings) for c in settings["numbers"]
    }
    columns |= {c["name"]: _categories(c, rare, rng) for c in settings["categories"]}
    columns[settings["label"]] = _labels(settings, rare)
    return {settings["name"]: columns}


def _numbers(
    column: Settings,
    rare: NDArray[np.bool_],
    factor: NDArray[np.float64],
    rng: np.random.Generator,
    settings: Settings,
) -> list[str]:
    follow = column["factor"]
    own = rng.normal(size=len(rare))
    # Half of the rare class gives itself away more clearly than the other half.
    shift = column["shift"] * rare * np.where(rng.random(len(rare)) < 0.5, 1.6, 0.5)
    standard = follow * factor + np.sqrt(1 - follow**2) * own + shift
    values = column["mean"] + column["spread"] * standard
    if column["exponential"]:
        values = np.exp(values)
    gap = rng.random(len(rare)) < settings["gap_share"]
    digits = column["decimals"]
    return ["" if g else f"{v:.{digits}f}" for v, g in zip(values, gap, strict=True)]


def _categories(column: Settings, rare: NDArray[np.bool_], rng: np.random.Generator) -> list[str]:
    drawn = [
        rng.choice(len(column["levels"]), size=len(rare), p=column[kind])
        for kind in ("common", "rare")
    ]
    return [column["levels"][k] for k in np.where(rare, drawn[1], drawn[0])]


# ------------------------------------------------------------------------ clouds


def _clouds(settings: Settings) -> Tables:
    rng = np.random.default_rng(settings["seed"])
    return {table["name"]: _cloud_columns(settings, table, rng) for table in settings["tables"]}


def _cloud_columns(
    settings: Settings, table: Settings, rng: np.random.Generator
) -> dict[str, Sequence[str]]:
    clouds = list(zip(settings["clouds"], table["sizes"], strict=True))
    drawn = [rng.multivariate_normal(c["mean"], c["covariance"], size) for c, size in clouds]
    rare = np.repeat([bool(c["positive"]) for c, _ in clouds], [size for _, size in clouds])
    values = np.hstack([np.vstack(drawn), rng.normal(size=(len(rare), settings["noise"]))])
    columns: dict[str, Sequence[str]] = {
        f"x{k + 1}": [f"{v:.3f}" for v in column] for k, column in enumerate(values.T)
    }
    columns[settings["label"]] = _labels(settings, rare)
    return columns


# ------------------------------------------------------------------------ rows


def _rows(settings: Settings) -> Tables:
    columns: dict[str, Sequence[str]] = {
        name: [str(cell) for cell in cells] for name, cells in settings["columns"].items()
    }
    return {settings["name"]: columns}


def _labels(settings: Settings, rare: Iterable[bool]) -> list[str]:
    return [settings["positive"] if one else settings["negative"] for one in rare]


_KINDS: dict[str, Callable[[Settings], Tables]] = {
    "columns": _columns,
    "clouds": _clouds,
    "rows": _rows,
}


if __name__ == "__main__":
    main()
