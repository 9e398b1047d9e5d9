"""Sample tables, drawn from the settings under ``resources/samples``; the same on every machine."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.files import write_atomically
from aucstudio.project.resources import resource_path


def make_sample(name: str, folder: Path) -> Path:
    """Write the sample table ``name`` as CSV into a folder and give its path."""
    text = resource_path("samples", f"{name}.toml").read_text(encoding="utf-8")
    settings = tomllib.loads(text)
    path = folder / f"{settings['name']}.csv"
    write_atomically(path, _table_text(settings))
    return path


def _table_text(settings: Mapping[str, Any]) -> str:
    rng = np.random.default_rng(settings["seed"])
    rows = settings["rows"]
    rare = np.arange(rows) < round(rows * settings["positive_share"])
    rng.shuffle(rare)
    # Columns that share a factor are correlated within the classes: that is what separates
    # methods which look at the spread of the differences from those which do not.
    factor = rng.normal(size=rows)
    columns = {c["name"]: _numbers(c, rare, factor, rng, settings) for c in settings["numbers"]}
    columns |= {c["name"]: _categories(c, rare, rng) for c in settings["categories"]}
    labels = np.where(rare, settings["positive"], settings["negative"])
    columns[settings["label"]] = list(labels)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _numbers(
    column: Mapping[str, Any],
    rare: NDArray[np.bool_],
    factor: NDArray[np.float64],
    rng: np.random.Generator,
    settings: Mapping[str, Any],
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


def _categories(
    column: Mapping[str, Any], rare: NDArray[np.bool_], rng: np.random.Generator
) -> list[str]:
    drawn = [
        rng.choice(len(column["levels"]), size=len(rare), p=column[kind])
        for kind in ("common", "rare")
    ]
    return [column["levels"][k] for k in np.where(rare, drawn[1], drawn[0])]
