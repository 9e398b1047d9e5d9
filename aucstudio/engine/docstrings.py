"""The text of a method, completed by its declaration: nobody writes a Parameters section."""

from __future__ import annotations

import inspect
import re
import textwrap

from aucstudio.engine.declared import Declared
from aucstudio.engine.params import Param, declared_params

_SECTION = re.compile(r"^(Attributes|Raises|References|Notes|Examples)\n-+$", re.MULTILINE)


class MethodText:
    """A method's docstring with a Parameters section, made when somebody reads it.

    Not before, because the settings are known only after the class has become a dataclass.
    """

    def __init__(self, text: str) -> None:
        self._text = inspect.cleandoc(text)

    def __get__(self, instance: object, method: type[Declared]) -> str:
        settings = "\n".join(map(_entry, declared_params(method).values()))
        found = _SECTION.search(self._text)
        end = len(self._text) if found is None else found.start()
        weights = "\n".join(textwrap.wrap(method.weights_words(), 99))
        parts = (self._text[:end], weights, f"Parameters\n----------\n{settings}", self._text[end:])
        return "\n\n".join(part.strip() for part in parts if part.strip())


def _entry(declared: Param) -> str:
    default = declared.spell(declared.default)
    kind = declared.allowed() + (f" ({declared.unit})" if declared.unit else "")
    lines = [f"{declared.name} : {kind}; default {default}", f"    {declared.help}"]
    if declared.symbol:
        lines[-1] += f" In papers: {declared.symbol}."
    lines += [f"    {declared.spell(value)}: {text}." for value, text in declared.choices.items()]
    return "\n".join(lines)
