"""The user guide: chapters from ``resources/help`` and one per method.

The help window and the static site show the same pages.
"""

from __future__ import annotations

import functools
import inspect
import json
import re
import tomllib

from aucstudio import __version__
from aucstudio.engine import METHODS
from aucstudio.engine.declared import AIMS, FAMILIES
from aucstudio.engine.params import Param, declared_params
from aucstudio.notices.words import range_words
from aucstudio.project.resources import resource_path

CHAPTERS = (
    "first-steps",
    "data",
    "formats",
    "validation",
    "method",
    "methods-compared",
    "page-roc",
    "page-compare",
    "page-differences",
    "page-feature-space",
    "page-model",
    "page-scores",
    "page-calibration",
    "page-data",
    "page-training",
    "page-search",
    "page-best",
    "statistics",
    "export",
    "window",
    "command-line",
    "options",
    "json",
    "engine",
    "notebook",
    "glossary",
)
"""The chapters of the guide, in reading order; ``options`` is written by ``packaging/docs``."""

_SIZES = ((100, 900, 20), (1_000, 99_000, 20))  # positives, negatives, features
_EVIDENCE = {"papers": "In the papers", "measured": "Measured with this program"}
_OBJECTIVE = re.compile(r"Minimises.*?(?=\n\n|\Z)", re.DOTALL)


def page(name: str) -> str:
    """Return a page of the guide as Markdown.

    Parameters
    ----------
    name : str
        One of :data:`CHAPTERS`, "manual" (all chapters), "methods", "whatsnew" or "about".
    """
    if name == "manual":
        return "\n\n".join(map(page, CHAPTERS))
    if name == "methods":
        return "\n\n".join([page("methods-compared"), *map(method_page, METHODS)])
    text = resource_path("help", f"{name}.md").read_text(encoding="utf-8")
    if "{areas}" in text:
        text = text.replace("{areas}", _areas_table())
    return text.replace("{version}", __version__)


def method_page(key: str) -> str:
    """Return the chapter of a method, made from its declaration."""
    method = METHODS[key]
    costs = "; ".join(
        f"{positives + negatives:,} rows × {features} columns: "
        f"{method().estimate(positives, negatives, features).words}"
        for positives, negatives, features in _SIZES
    )
    parts = [
        f"## {method.title}",
        f"**{method.in_words}** (`{key}`). {method.summary}",
        f"**When to use.** {method.use_when}",
        f"**Trains for** {AIMS[method.trains_for]}; {method.shape_words()}. {_objective(key)}",
        f"**Cost on this machine.** {costs}.",
        *(f"**{_EVIDENCE[kind]}.** {text}" for kind, text in _evidence().get(key, {}).items()),
        method.weights_words(),
        f"*{FAMILIES[method.family]}; {method.source}*",
    ]
    rows = [_setting_row(declared) for declared in declared_params(method).values()]
    head = ["| Setting | Symbol | Values | Default | |", "|---|---|---|---|---|"]
    return "\n\n".join([*parts, "\n".join([*head, *rows])])


def _areas_table() -> str:
    """Return the areas of all methods at default settings, the largest first."""
    areas = json.loads(resource_path("help", "measured.json").read_text(encoding="utf-8"))
    rows = [
        f"| {METHODS[key].title} | `{key}` | {area['auc']:.1f} | {area['pauc']:.1f} |"
        for key, area in sorted(areas.items(), key=lambda one: -one[1]["auc"])
    ]
    head = ["| Method | Id | AUC | Partial AUC, FPR 0 … 0.1 |", "|---|---|---|---|"]
    return "\n".join([*head, *rows])


@functools.cache
def _evidence() -> dict[str, dict[str, str]]:
    """Read what papers report and what was measured, by method."""
    return tomllib.loads(resource_path("help", "evidence.toml").read_text(encoding="utf-8"))


def _objective(key: str) -> str:
    """Return the objective of the docstring as Markdown."""
    found = _OBJECTIVE.search(inspect.getdoc(METHODS[key]) or "")
    words = re.sub(r":class:`~?(?:\w+\.)*(\w+)`", r"`\1`", found.group() if found else "")
    return re.sub(r"(?<!`)``(?!`)", "`", " ".join(words.split()))


def _setting_row(declared: Param) -> str:
    default = declared.none if declared.default is None else declared.spell(declared.default)
    if declared.kind == "range" and declared.default is not None:
        default = range_words(declared.default)
    cells = [declared.label, declared.symbol, declared.allowed(), default, declared.help]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
