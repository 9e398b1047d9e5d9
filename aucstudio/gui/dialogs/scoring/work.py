"""Scoring a table beside the window: model, files of scores, what was met, how rows are ranked."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aucstudio.gui.dialogs.scoring.curve import TableRanking
from aucstudio.gui.dialogs.scoring.form import ScoringChoices
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.models.model import Model
from aucstudio.project.runs.models.scoring_report import ScoringReport
from aucstudio.project.runs.stream_plan import table_reader
from aucstudio.project.store.scores_file import (
    CSV,
    PARQUET,
    copy_file,
    csv_sink,
    parquet_sink,
    score_into,
    scores_file,
)

Post = Callable[[Any], bool]


@dataclasses.dataclass(frozen=True, eq=False)
class Scored:
    """A table that was scored: by what, what was met, where the scores lie by ending."""

    model: Model
    report: ScoringReport
    files: dict[str, Path]
    said: str
    ranking: TableRanking | None


def scoring(chosen: ScoringChoices, folder: Path, band: Band) -> Callable[[Post], Scored]:
    """Return what makes the model, reads the table and scores it, on another thread."""

    def work(post: Post) -> Scored:
        model = chosen.make_model(lambda _progress: post((None, "training on all rows")))
        read, said = table_reader(chosen.table, None, stream=False, block_size=None)
        # One that was given up may still be at its own files.
        name = secrets.token_hex(6)
        files = {ending: folder / f"{name}{ending}" for ending in (CSV, PARQUET)}
        rankings: list[TableRanking] = []
        calibrated = model.calibration is not None
        parquet = parquet_sink(files[PARQUET], chosen.identifier, calibrated)
        with scores_file(files[CSV]) as file, parquet as to:
            report = score_into(
                [csv_sink(file, chosen.identifier), to],
                model,
                chosen.table,
                identifier=chosen.identifier,
                label=chosen.label,
                allowed=chosen.accepted.allowed,
                written=chosen.accepted.written,
                scale=chosen.accepted.scale,
                dialect=chosen.accepted.dialect,
                read=read,
                progress=lambda done, words: post((done, words)),
                ranked=lambda positive, scores: rankings.append(
                    TableRanking.of(positive, scores, band, model.threshold)
                ),
            )
        return Scored(model, report, files, said, next(iter(rankings), None))

    return work


def copied(file: Path, target: Path) -> Path:
    copy_file(file, target)
    return target
