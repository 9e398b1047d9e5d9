"""``aucstudio compare``: compare the runs of a project, with intervals and tests."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from aucstudio.console import DONE, complain, say, say_json
from aucstudio.project.errors import input_error

if TYPE_CHECKING:
    from aucstudio.project.results.subgroups import Subgroups
    from aucstudio.project.runs.record import RunRecord


def run(options: argparse.Namespace) -> int:
    """Compare the runs of a project; return the exit status."""
    from contextlib import closing, nullcontext

    from aucstudio.project.results import comparison
    from aucstudio.project.results.documents import (
        comparison_document,
        named_runs,
        readable_runs,
        with_distinct_names,
    )
    from aucstudio.project.results.page import Heading, markdown_blocks
    from aucstudio.project.results.report import comparison_tables, subgroup_blocks

    if options.cluster is not None:
        from aucstudio.project.work.cluster import open_cluster

    listed, band = named_runs(options.project, complain)
    named = readable_runs(with_distinct_names(listed), band, complain)
    _write_pages(named, band, options)
    by_group = [] if options.by is None else _subgroups(named, band, options)
    place = nullcontext() if options.cluster is None else closing(open_cluster(options.cluster))
    with place as workers:
        if options.json:
            document = comparison_document(named, band, workers)
            groups = [{"name": name, **of.as_json()} for name, of in by_group]
            say_json(document | ({} if options.by is None else {"subgroups": groups}))
            return DONE
        if not named:
            raise input_error("no_run_to_compare", file=options.project)
        figures = [comparison.compared_figures(name, record, band) for name, record in named]
        for measure in (comparison.AUC, comparison.PAUC, comparison.TPR):
            pairs = comparison.compare_runs(named, band, measure, workers=workers)
            heading = Heading(comparison.measure_words(measure, band))
            found = comparison.Comparison(figures, pairs, measure)
            say(markdown_blocks([heading, *comparison_tables(found)]) + "\n")
        for name, of in by_group:
            say(markdown_blocks(subgroup_blocks(f"{name}, by {of.column}", of, band)) + "\n")
    return DONE


def _write_pages(
    named: list[tuple[str, RunRecord]], band: tuple[float, float], options: argparse.Namespace
) -> None:
    """Write the report and the model card that were asked for."""
    if options.report is not None and named:
        from aucstudio.project.results.report import write_report

        write_report(Path(options.report), dict(named), band, {})
    if options.model_card is not None:
        from aucstudio.project.results.documents import find_run
        from aucstudio.project.results.report import write_model_card

        wanted, file = options.model_card
        name, record = find_run(named, wanted, options.project)
        by = [] if options.by is None else [options.by]
        write_model_card(Path(file), name, record, band, by)


def _subgroups(
    named: list[tuple[str, RunRecord]], band: tuple[float, float], options: argparse.Namespace
) -> list[tuple[str, Subgroups]]:
    from aucstudio.project.results.subgroups import read_cuts, subgroups_of

    cuts = () if options.cuts is None else read_cuts(options.cuts)
    return subgroups_of(named, options.by, band, cuts)
