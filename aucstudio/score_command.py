"""``aucstudio score``: a saved model applied to a table."""

from __future__ import annotations

import argparse
import codecs
import contextlib
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from aucstudio.arguments import read_dialect
from aucstudio.boundary import BAD_INPUT, DONE
from aucstudio.console import complain, note, say_json

if TYPE_CHECKING:
    from aucstudio.project.data.any_table import AnyTable
    from aucstudio.project.runs.model import Model
    from aucstudio.project.store.sheets import Writable


def score(options: argparse.Namespace, read: Callable[..., AnyTable]) -> int:
    """Score a table and say what was met in it; returns the exit status.

    Parameters
    ----------
    read : callable
        What reads the table, or opens one that stays on disk.
    """
    from aucstudio.project.data.table import Table
    from aucstudio.project.runs.scoring import read_to_score, score_table
    from aucstudio.project.store.files import refuse_own_input
    from aucstudio.project.store.model_file import load_model

    refuse_own_input(options.output, options.model, options.data)
    model = load_model(options.model)
    table = read_to_score(
        model,
        options.data,
        identifier=options.id,
        label=options.label,
        dialect=read_dialect(options),
        read=read,
    )
    if options.json and not options.output and not isinstance(table, Table):
        complain("the scores of a table that stays on disk do not go into JSON: give -o FILE")
        return BAD_INPUT
    target = _ScoreTarget(model, options.id, collect=options.json and not options.output)
    chosen = {"identifier": options.id, "allow_unknown": options.allow_unknown}
    if options.output:
        with _scores_file(options.output) as file:
            report = score_table(model, table, target.into(file), **chosen)
    else:
        report = score_table(model, table, target.into(sys.stdout), **chosen)
    for sentence in report.sentences():
        note(sentence)
    if options.json:
        known = {"model": options.model, "method": model.method, "file": options.output}
        say_json({**report.as_json(), **known, **target.collected})
    return DONE


class _ScoreTarget:
    """Takes blocks of scored rows: into a file, or into what will be JSON."""

    def __init__(self, model: Model, identifier: str | None, *, collect: bool) -> None:
        self._model, self._identifier = model, identifier
        self.collected: dict[str, list[Any]] = {"scores": [], "predicted": []} if collect else {}

    def into(self, file: Writable) -> Callable[..., None]:
        """Give what takes a block; the header is written before the first."""
        from aucstudio.project.store.sheets import write_rows

        names = ["row", *([self._identifier] if self._identifier else []), "score", "label"]
        header = iter([names])

        def take(numbers: Any, cells: Any, scores: Any) -> None:
            model = self._model
            predicted = np.where(scores > 0, model.positive, model.negative).tolist()
            if self.collected:
                self.collected["scores"] += scores.tolist()
                self.collected["predicted"] += predicted
                return
            carried = [] if cells is None else [cells.tolist()]
            rows = zip(numbers.tolist(), *carried, scores.tolist(), predicted, strict=True)
            write_rows(file, itertools.chain(header, rows))

        return take


@contextlib.contextmanager
def _scores_file(path: str) -> Iterator[codecs.StreamWriter]:
    from aucstudio.project.store.files import written_atomically

    with written_atomically(path) as file:
        # Unlike a TextIOWrapper this one does not close the file a second time when it fails.
        yield codecs.getwriter("utf-8")(file)
