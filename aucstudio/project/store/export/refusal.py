"""Which models cannot be exported, and why."""

from __future__ import annotations

from collections.abc import Container, Iterator

from aucstudio.engine.ensembles.combined import CombinationScorer
from aucstudio.engine.ensembles.viewed import ViewedScorer
from aucstudio.engine.scorers import Scorer
from aucstudio.project.errors import InputError
from aucstudio.project.runs.models.model import Model


def require_kind(model: Model, known: Container[str], title: str) -> None:
    """Make sure that the format knows the model's kind of scorer.

    Raises
    ------
    InputError
        If it does not; the sentence names the kind.
    """
    if model.scorer.kind not in known:
        raise InputError(
            f"a model of {model.method} cannot be exported as {title}, which does not know its "
            f"kind of scorer ({model.scorer.kind!r}): save it as an AUC Studio model",
            setting="to",
        )


def inner_scorers(scorer: Scorer) -> Iterator[Scorer]:
    """Yield the scorers that a scorer consists of, at every depth."""
    within = [part.scorer for part in scorer.parts] if isinstance(scorer, CombinationScorer) else []
    within += [scorer.scorer] if isinstance(scorer, ViewedScorer) else []
    for inner in within:
        yield inner
        yield from inner_scorers(inner)
