"""Errors of user input."""

from __future__ import annotations

from typing import Any


class InputError(ValueError):
    """Invalid input; one sentence that names the file, row, column or setting and what to do.

    Attributes
    ----------
    file, column, setting : str or None
        The subject of the sentence, so that a window can show it next to its cause.
    line : int or None
        Line of the file, counted from 1.
    code : str
        The entry of the catalogue; empty if the sentence is not in the catalogue.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: str | None = None,
        setting: str | None = None,
        code: str = "",
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.column = column
        self.setting = setting
        self.code = code

    def renamed(self, made: object, shown: object, file: object) -> InputError:
        """Return the error with another name of the file in its sentence."""
        message = str(self).replace(str(made), str(shown))
        place = {name: getattr(self, name) for name in ("line", "column", "setting", "code")}
        return InputError(message, file=str(file), **place)


def input_error(
    code: str,
    *,
    file: object = None,
    line: int | None = None,
    column: str | None = None,
    setting: str | None = None,
    **values: Any,
) -> InputError:
    """Return the error of a catalogue entry.

    Its text may contain file, line, column and setting besides the values.
    """
    from aucstudio.notices import entry, text

    setting = setting or entry(code)["setting"]
    file = None if file is None else str(file)
    place: dict[str, Any] = {"file": file, "line": line, "column": column, "setting": setting}
    return InputError(text(code, **place, **values), **place, code=code)


class Cancelled(Exception):  # noqa: N818  (an outcome, not an error)
    """Stopped by a progress callback; nothing was read or written."""


def column_error(code: str, file: object, column: str, **values: Any) -> InputError:
    """Return the error of a catalogue entry about a column of a file."""
    return input_error(code, file=file, column=column, **values)
