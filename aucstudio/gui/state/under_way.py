"""What would be broken off by leaving: in words, for the question that is asked then."""

from __future__ import annotations

from collections.abc import Sequence

from aucstudio.gui.state.session import Session
from aucstudio.gui.state.study import Study
from aucstudio.project.words import runs_words


def what_is_under_way(sessions: Sequence[Session]) -> str:
    """Describe running, waiting and kept runs of all studies that have any."""
    sentences = []
    for session in sessions:
        for study in (session.study, *session.left):
            if study.busy:
                sentences.append(_study_words(study))
        for files in (session.opener, session.saver):
            if files.words:
                sentences.append(f"{files.words[:1].upper()}{files.words[1:]}.")
    sentences.append("Runs that are stopped keep the splits they have finished.")
    if any(study.tournament.busy for one in sessions for study in (one.study, *one.left)):
        sentences.append("Find the best keeps what it has ready.")
    return " ".join(sentences)


def _study_words(study: Study) -> str:
    flying = [live.look.name for live in study.runner.flights]
    waiting, kept = len(study.runner.queue), len(study.records)
    parts = []
    if flying:
        parts.append(f"{', '.join(flying)} {'is' if len(flying) == 1 else 'are'} training")
    if study.tournament.busy:
        parts.append("a search for the best model is running")
    if waiting:
        parts.append(f"{runs_words(waiting)} {'waits' if waiting == 1 else 'wait'}")
    there = f"; {runs_words(kept)} finished and kept" if kept else ""
    return f"In {study.name}, {' and '.join(parts)}{there}."
