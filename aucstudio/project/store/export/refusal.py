"""What cannot be exported, said in a sentence."""

from __future__ import annotations

from collections.abc import Container

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
