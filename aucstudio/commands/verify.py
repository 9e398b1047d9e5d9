"""``aucstudio verify``: check the runs of a project with independent solvers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aucstudio.console import BAD_INPUT, DONE, RUN_FAILED, complain, progress, say, say_json
from aucstudio.project.errors import InputError, input_error

if TYPE_CHECKING:
    from aucstudio.project.data.table import Table
    from aucstudio.project.runs.record import RunRecord
    from aucstudio.project.runs.verification import Verification

    Named = tuple[str, RunRecord]


def run(options: argparse.Namespace) -> int:
    """Verify one run of a project, or all of them; return the exit status."""
    from aucstudio.project.results.documents import named_runs
    from aucstudio.project.runs.verification import open_table, verify_run
    from aucstudio.project.store.project.project_file import ProjectFile

    listed, _ = named_runs(options.project, complain)
    chosen = _chosen(listed, options)
    file, bar = ProjectFile.open(options.project), progress("verify")
    tables: dict[object, Table] = {}
    found: list[tuple[str, Verification]] = []
    unsaved, missed = "", 0
    for k, (name, record) in enumerate(chosen):

        def report(stage: str, share: float, k: int = k, name: str = name) -> None:
            bar((k + share) / (len(chosen) + 1), f"{name}: {stage}")

        key = record.experiment.data
        try:
            if key not in tables:
                tables[key] = open_table(record)
            verification = verify_run(record, options.split - 1, report, tables[key])
        except InputError as error:
            if len(chosen) == 1:
                raise
            complain(f"{name} was not verified: {error}")
            missed += 1
            continue
        found.append((name, verification))
        try:
            file.keep_verification(verification)
        except InputError as error:
            unsaved = str(error)
    bar(1.0, "")
    _print(found, options)
    if unsaved:
        complain(f"the result was not stored: {unsaved}")
    if unsaved or missed:
        return BAD_INPUT
    return DONE if all(one.agrees for _, one in found) else RUN_FAILED


def _chosen(listed: Sequence[Named], options: argparse.Namespace) -> Sequence[Named]:
    """Find the runs that are meant, by id or by name."""
    from aucstudio.project.results.documents import find_run

    if not listed:
        raise input_error("no_run_to_verify", file=options.project)
    if options.run is None:
        return [(name, record) for name, record in listed if not record.experiment.members]
    return [find_run(listed, options.run, options.project)]


def _print(found: Sequence[tuple[str, Verification]], options: argparse.Namespace) -> None:
    from aucstudio.project.results.verified import as_text, verification_sentence

    if options.json:
        runs = [
            {"name": name, **one.as_json(), "verdict": verification_sentence(one)}
            for name, one in found
        ]
        agrees = all(one.agrees for _, one in found)
        say_json({"project": options.project, "agrees": agrees, "runs": runs})
        return
    say("\n\n".join(as_text(one, name) for name, one in found))
