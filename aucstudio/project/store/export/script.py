"""Export a model as one Python file that needs only numpy: a program, and the JSON document."""

from __future__ import annotations

import base64
import json
import textwrap
import zlib

import numpy as np

<<<<<<< HEAD
from aucstudio.notices import text
=======
from aucstudio.engine.calibration import TILT, Calibration
from aucstudio.engine.ensembles.combined import CombinationScorer, ViewedScorer
from aucstudio.engine.scorers import Scorer, inner_scorers
from aucstudio.project.data.preparing.preparation import category_features, number_features
from aucstudio.project.data.preparing.scales import MISSING, RARE
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.numerals import FOREIGN_DIGITS, OWN_DIGITS, NumberFormat
>>>>>>> main
from aucstudio.project.resources import resource_path
from aucstudio.project.runs.models.model import Model
from aucstudio.project.store.export.document import check, describe, document_of, printable

__all__ = ["check", "write_script"]

_PLACE = 'MODEL: dict[str, Any] = json.loads("{}")'
_MOST_READABLE = 20_000  # characters
_WIDTH = 98


def write_script(model: Model) -> bytes:
    """Write the script: the program in ``resources/export``, with this model in it.

    All that comes from the model goes in as one literal of JSON, so that no name in it can become
    code.

    Raises
    ------
    InputError
        If the script has no function for the kind of scorer.
    """
    check(model)
    program = resource_path("export", "model_script.py").read_text(encoding="utf-8")
    _, _, program = program.split('"""', 2)
    document = document_of(model)
    lines = [f"{json.dumps(name)}: {_dumps(part)}" for name, part in document.items()]
    written = "{\n" + ",\n".join(lines) + "\n}"
    loaded = f'json.loads(r"""{written}""")'
    if len(written) > _MOST_READABLE:
        packed = base64.b64encode(zlib.compress(written.encode(), 9)).decode()
        loaded = f'unpack("""\n{textwrap.fill(packed, _WIDTH)}\n""")'
    return (_head(model) + program.replace(_PLACE, f"MODEL = {loaded}")).encode()


def _dumps(part: object) -> str:
    """Write ASCII, in which no text has three quotation marks in a row; arrays become lists."""
    return json.dumps(part, default=lambda array: np.asarray(array).tolist())


def _head(model: Model) -> str:
    """Return the docstring of a script."""
    first, *others = describe(model)
    calibrated = model.calibration is not None
    words = text("script_head", first=first, others=" ".join(others), calibrated=calibrated)
    # What could end a docstring, or is not printable, is escaped.
    lines = (
        printable(line.replace("\\", "\\\\").replace('"', '\\"')) for line in words.splitlines()
    )
<<<<<<< HEAD
    filled = (
        textwrap.fill(line, 100, break_long_words=False, break_on_hyphens=False) for line in lines
    )
    return '"""' + "\n".join(filled) + '\n"""'
=======
    return f"PARTS = {{\n{lines}}}" if lines else "PARTS = {}"


def _is_odd(form: NumberFormat) -> bool:
    return form.grouped or form.dressed or bool(form.layout)


def _reading(form: NumberFormat) -> str:
    if form.layout:
        ways = [dates.pattern(way) for way in dates.ways_of(form.layout)]
        lines = "".join(f"            {way!r},\n" for way in ways)
        return f"functools.partial(\n        read_date,\n        ways=[\n{lines}        ],\n    )"
    named = {"pattern": form.pattern, "decimal": form.decimal, "marks": form.marks}
    lines = "".join(f"        {name}={value!r},\n" for name, value in named.items())
    return f"functools.partial(\n        read_written,\n{lines}    )"


def _kinds(scorer: Scorer) -> list[str]:
    """Name the functions that a scorer needs, each once; the inner ones come first."""
    inner = [part.kind for part in inner_scorers(scorer)]
    return [*dict.fromkeys([*reversed(inner), scorer.kind])]


class _ScriptWriter(ScorerVisitor[str]):
    """Writes scorers as functions of prepared rows."""

    title = "a Python script"

    def _call(self, scorer: Scorer, given: Mapping[str, str]) -> str:
        lines = "".join(f"    {name}={value},\n" for name, value in given.items())
        return f"functools.partial(\n    {scorer.kind},\n{lines})"

    def _all(self, scorer: Scorer) -> str:
        return self._call(scorer, _literals(scorer))

    linear = kernel = fourier = trees = additive = _all

    def combination(self, scorer: CombinationScorer) -> str:
        rows = "\n".join(
            f"({self.visit(part.scorer)}, {part.factor!r}, {part.smoothing!r}),"
            for part in scorer.parts
        )
        return self._call(scorer, {"parts": f"[\n{rows}\n]", "base": repr(scorer.base)})

    def viewed(self, scorer: ViewedScorer) -> str:
        view = {name: _array(getattr(scorer.view, name)) for name in scorer.layout}
        return self._call(scorer, {**view, "inner": self.visit(scorer.scorer)})


def _literals(part: Scorer | Calibration) -> dict[str, str]:
    """Return settings and arrays as literals."""
    settings = {name: repr(value) for name, value in part.settings().items()}
    return settings | {name: _array(value) for name, value in part.arrays().items()}


def _calibration(model: Model) -> Iterable[str]:
    made = model.calibration
    if made is None:
        yield "probability = None"
        return
    given = _literals(made)
    of_scores = {name: given.pop(name) for name in ("centre", "scale")} | {"tilt": repr(TILT)}
    yield f"form = functools.partial(\n    {made.form},"
    yield from (f"    {name}={value}," for name, value in given.items())
    yield ")"
    numbers = ", ".join(f"{name}={value}" for name, value in of_scores.items())
    yield f"probability = functools.partial(calibrated, {numbers}, form=form)"


class _Float(float):
    """A number that is written so that Python reads it back, infinite ones too."""

    def __repr__(self) -> str:
        return f"{'-' if self < 0 else ''}math.inf" if math.isinf(self) else float.__repr__(self)


def _mapping(name: str, entries: dict[str, Any]) -> str:
    lines = "".join(f"    {key!r}: {value!r},\n" for key, value in entries.items())
    return f"{name} = {{\n{lines}}}" if entries else f"{name} = {{}}"


def _set(words: Iterable[str]) -> str:
    return "{" + ", ".join(map(repr, sorted(words))) + "}"


def _array(array: NDArray[Any]) -> str:
    """Write an array as literals that can be read, or packed where it is long."""
    if array.size <= _MOST_READABLE and np.isfinite(array).all() and array.size:
        rows = textwrap.wrap(repr(array.tolist()), _WIDTH - 8, **_UNBROKEN)
        return "np.array(\n" + textwrap.indent("\n".join(rows), " " * 8) + "\n    )"
    little = array.astype(array.dtype.newbyteorder("<"))
    packed = base64.b64encode(zlib.compress(array_to_bytes(little))).decode()
    lines = "\n".join(packed[k : k + _WIDTH] for k in range(0, len(packed), _WIDTH))
    return f'unpack("""\n{lines}\n""")'
>>>>>>> main
