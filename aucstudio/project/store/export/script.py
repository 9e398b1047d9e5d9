"""Export a model as one Python file that needs only numpy: a program, and the JSON document."""

from __future__ import annotations

import base64
import json
import textwrap
import zlib

import numpy as np

from aucstudio.notices import text
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.footer import TOTAL_WORDS
from aucstudio.project.resources import resource_path
from aucstudio.project.runs.model import Model
from aucstudio.project.store.export.document import check, describe, document_of, printable

__all__ = ["check", "write"]

_PLACE = 'MODEL: dict[str, Any] = json.loads("{}")'
_MOST_READABLE = 20_000  # characters
_WIDTH = 98


def write(model: Model) -> bytes:
    """Write the script: the program in ``resources/export``, with this model in it.

    All that comes from the model goes in as one literal of JSON, so that no name in it can become
    code.

    Raises
    ------
    InputError
        If the script has no function for the kind of scorer.
    """
    check(model)
    program = resource_path("export", "model_script.py").read_text("utf-8").split('"""', 2)[2]
    document = document_of(model) | {"identifiers": model.schema.identifiers}
    readings = document["preparation"].get("reading", {}).values()
    if any("ways" in way for way in readings):
        layouts = (layout for layout in dates.LAYOUTS if layout != dates.CLOCK)
        document["layouts"] = {layout: dates.pattern(layout) for layout in layouts}
    if (dialect := model.schema.dialect) and dialect.totals:
        document["totals"] = TOTAL_WORDS
    lines = [f"{json.dumps(name)}: {_dumps(part)}" for name, part in document.items()]
    written = "{\n" + ",\n".join(lines) + "\n}"
    loaded = f'json.loads(r"""{written}""")'
    if len(written) > _MOST_READABLE:
        packed = base64.b64encode(zlib.compress(written.encode())).decode()
        # Not textwrap, which copies the rest of a long word for every line.
        lines = [packed[start : start + _WIDTH] for start in range(0, len(packed), _WIDTH)]
        loaded = "\n".join(['unpack("""', *lines, '""")'])
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
    words = words.replace("\\", "\\\\").replace('"', '\\"')
    filled = (
        textwrap.fill(printable(line), 100, break_long_words=False, break_on_hyphens=False)
        for line in words.splitlines()
    )
    return '"""' + "\n".join(filled) + '\n"""'
