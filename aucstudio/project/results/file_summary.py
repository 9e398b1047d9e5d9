"""Summary of a file before it is opened."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from aucstudio.notices.words import runs_words
from aucstudio.project.errors import InputError
from aucstudio.project.results.documents import named_runs
from aucstudio.project.results.summary import auc_summary, pauc_summary
from aucstudio.project.store.project.checksums import DamagedError
from aucstudio.project.store.workspace import read_memory, write_memory

_MOST_RUNS = 40  # that are read for the best of them
_MOST_KEPT = 100
_MEMORY = "outlines.json"
_KINDS = {".aucproj": "Project", ".toml": "Experiments"}


class Outline(msgspec.Struct, frozen=True):
    """Summary of one file in a list.

    Attributes
    ----------
    kind : str
        "Table", "Project" or "Experiments".
    facts : str
        Of a project: its table, its runs, the best of them.
    is_there : bool
    """

    kind: str
    facts: str = ""
    is_there: bool = True


def kind_of(path: Path) -> str:
    """Return by its name what a file is."""
    return _KINDS.get(path.suffix.lower(), "Table")


def outline(path: Path) -> Outline:
    """Describe a file; one that was read before and has not changed, from memory."""
    kind = kind_of(path)
    try:
        found = path.stat()
    except OSError:
        return Outline(kind, is_there=False)
    if kind != "Project":
        return Outline(kind)
    memory, state = read_memory(_MEMORY), [found.st_mtime_ns, found.st_size]
    memory = memory if isinstance(memory, dict) else {}
    with contextlib.suppress(KeyError, TypeError, ValueError):
        known, facts = memory[str(path)]
        if known == state:
            return Outline(kind, str(facts))
    facts = _facts(path)
    memory[str(path)] = (state, facts)
    write_memory(_MEMORY, dict(list(memory.items())[-_MOST_KEPT:]))
    return Outline(kind, facts)


def _facts(path: Path) -> str:
    try:
        runs, band = named_runs(path)
    except (InputError, OSError) as error:
        return f"cannot be read: {error}" if isinstance(error, OSError) else str(error)
    if not runs:
        return "no finished run"
    facts = [Path(runs[-1][1].experiment.data.path).name, runs_words(len(runs))]
    if len(runs) <= _MOST_RUNS:
        with contextlib.suppress(DamagedError):
            name, record = max(runs, key=lambda run: pauc_summary(run[1], band).value)
            part, whole = pauc_summary(record, band).value, auc_summary(record).value
            low, high = (f"{edge:.3g}" for edge in band)
            facts.append(f"best {name}: pAUC {part:.3f} in FPR {low} … {high}, AUC {whole:.3f}")
    return " · ".join(facts)
