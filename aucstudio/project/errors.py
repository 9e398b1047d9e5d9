"""Errors of user input."""

from __future__ import annotations


class InputError(ValueError):
    """Invalid input; one sentence that names the file, row, column or setting and what to do.

    Attributes
    ----------
    file, column, setting : str or None
        The subject of the sentence, so that a window can show it next to its cause.
    line : int or None
        Line of the file, counted from 1.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: str | None = None,
        setting: str | None = None,
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.column = column
        self.setting = setting


class Cancelled(Exception):  # noqa: N818  (an outcome, not an error)
    """Stopped by a progress callback; nothing was read or written."""
