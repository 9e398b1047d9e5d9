"""A report page: the figures of runs with their intervals, pictures, and how to repeat each."""

from __future__ import annotations

import base64
import datetime
import html
from collections.abc import Mapping
from pathlib import Path
from string import Template

from aucstudio import __version__
from aucstudio.project.resources import resource_path
from aucstudio.project.results.documents import doubts
from aucstudio.project.results.summary import auc_summary, band_negatives, pauc_summary, train_auc
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.experiments.experiment_writing import command_line
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.store.files import write_atomically
from aucstudio.project.words import figure_words, interval_words


def write_report(
    path: Path, runs: Mapping[str, RunRecord], band: Band, pictures: Mapping[str, bytes]
) -> None:
    """Write one self-contained HTML page.

    Parameters
    ----------
    path : Path
    runs : mapping of name to record
        Each with at least one finished split.
    band : (float, float)
        False-positive range of the partial AUC.
    pictures : mapping of caption to PNG bytes

    Raises
    ------
    InputError
        If the page cannot be written.
    """
    page = Template(resource_path("report", "report.html").read_text(encoding="utf-8"))
    first = next(iter(runs.values()))
    data = first.experiment.data
    name = Path(data.path).name
    text = page.substitute(
        title=html.escape(f"{name}: {len(runs)} runs"),
        facts=html.escape(
            f"label {data.label}, positive {data.positive}; {_weighted_words(runs)}"
            f"{first.experiment.validation.describe()}; SHA-256 {data.sha256[:16]}…"
        ),
        table=_table(runs, band),
        sentence=html.escape(_sentence(runs, band)),
        pictures="\n".join(_picture(caption, png) for caption, png in pictures.items()),
        commands="\n".join(
            f"<p>{html.escape(n)}<br><code>{_lines(command_line(r.experiment))}</code></p>"
            for n, r in runs.items()
        ),
        version=__version__,
        made=datetime.date.today().isoformat(),
    )
    write_atomically(path, text)


def _weighted_words(runs: Mapping[str, RunRecord]) -> str:
    names = sorted({run.experiment.weight for run in runs.values() if run.experiment.weight})
    return f"rows weighted by {', '.join(names)}; " if names else ""


def _table(runs: Mapping[str, RunRecord], band: Band) -> str:
    heads = (
        "Run",
        "AUC",
        "95 % interval",
        f"pAUC {band[0]:g} … {band[1]:g}",
        "95 % interval",
        "training AUC",
        "s per fit",
    )
    lines = ["<table>", "<tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"]
    for name, record in runs.items():
        area, part = auc_summary(record), pauc_summary(record, band)
        cells = (
            html.escape(name),
            figure_words(area.value),
            interval_words(area.low, area.high),
            figure_words(part.value),
            interval_words(part.low, part.high),
            figure_words(train_auc(record)),
            f"{record.fit_seconds:.3g}",
        )
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return "\n".join([*lines, "</table>"])


def _sentence(runs: Mapping[str, RunRecord], band: Band) -> str:
    negatives = min(band_negatives(record, band) for record in runs.values())
    few = ": too few for small differences to be significant" if negatives < 20 else ""
    return " ".join(
        [
            f"pAUC is the area in the false-positive range {band[0]:g} … {band[1]:g}, divided by "
            f"its width; {negatives} held-out negatives in the range{few}.",
            *doubts(list(runs.values()), band),
        ]
    )


def _picture(caption: str, png: bytes) -> str:
    encoded = base64.b64encode(png).decode()
    text = html.escape(caption)
    return f'<figure><img alt="{text}" src="data:image/png;base64,{encoded}"></figure>'


def _lines(text: str) -> str:
    return "<br>".join(html.escape(text).splitlines())
