"""Interface of a table format.

Two readers read cells: those of delimited text and of Parquet. Every other format is converted to
one of these first, so that kinds, number formats, names and missing values are detected in one way,
and a later file in any format is read by the same schema.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from aucstudio.project.data.finding import Finding
from aucstudio.project.typed import Sendable

# Receives the fraction done; may raise to stop.
Advance = Callable[[float], None]

TEXT: Final = "text"
PARQUET: Final = "parquet"
MATRIX: Final = "matrix"
FILE: Final = "file"
Kind = Literal["text", "parquet", "matrix", "file"]

# Dialect of the converted rows of a format without text dialect.
ROWS: Mapping[str, Any] = {
    "encoding": "utf-8",
    "delimiter": ",",
    "quote": '"',
    "decimal": ".",
    "short_header": "",
    "escape": "",
    "comment": "",
    "edges": (),
}
NAMED_ROWS: Mapping[str, Any] = {
    **ROWS,
    "header": True,
    "skip": 0,
    "upper_rows": 0,
    "lower_rows": 0,
}


@dataclasses.dataclass(frozen=True)
class ReadOptions:
    """Which part of a file is read, and how.

    Attributes
    ----------
    part : str
        The sheet, table or member that the user chose; empty for none.
    usual : str
        The part that the training table was read from; preferred if the file has it.
    encoding : str
        The encoding that the user chose; empty for none.
    kinds : dict of str to str
        Kinds of the columns of the training table, "number" or "text"; empty without one.
    enough : int
        Number of bytes of an unpacked file that suffices; 0 for all.
    strict : bool
        Whether one unreadable row refuses the file.
    """

    part: str = ""
    usual: str = ""
    encoding: str = ""
    kinds: dict[str, str] = dataclasses.field(default_factory=dict)
    enough: int = 0
    strict: bool = False


@dataclasses.dataclass(frozen=True)
class Written(Sendable):
    """The result of converting a file.

    Attributes
    ----------
    kind : {"text", "parquet", "matrix", "file"}
        "matrix" for a sparse table; "file" if it was only unpacked and must be recognised.
    known : dict of part to value
        The parts of the dialect that are known.
    remarks : tuple of Finding
    part : str
        The sheet, table or member that was read; empty if there is only one.
    parts : tuple of str
        All sheets, tables or members.
    texts : tuple of str
        Columns declared as text, whatever their cells look like.
    roles : dict of str to str
        Roles that the file declares.
    name : str
        Name of an unpacked file.
    """

    kind: Kind = "text"
    known: dict[str, Any] = dataclasses.field(default_factory=dict)
    remarks: tuple[Finding, ...] = ()
    part: str = ""
    parts: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    roles: dict[str, str] = dataclasses.field(default_factory=dict)
    name: str = ""

    def with_remarks(self, *more: Finding) -> Written:
        """Append remarks."""
        return dataclasses.replace(self, remarks=(*self.remarks, *more))


Write = Callable[[Path, Path, ReadOptions, Advance], Written]


@dataclasses.dataclass(frozen=True)
class Format:
    """A format of tables, as declared in ``formats.toml``.

    Attributes
    ----------
    key : str
        Name in the output of ``inspect``.
    title : str
        Name in messages: "an Excel workbook".
    plural : str
        Name in file dialogs: "Excel workbooks".
    endings, begins : tuple of str
    offset : int
    pattern : str
    writer : str
        ``module:function`` of this package that converts the file in a process of its own; empty
        if it is read directly. It may raise anything, and take any memory and time. The module is
        imported only there.
    swelling : float
        Estimated ratio of the memory of the cells to the size of the file.
    part : str
        What ``--sheet`` selects: "sheet", "table" or "member"; empty if it has one table.
    encodings : bool
        Whether an encoding can be set.
    """

    key: str
    title: str
    plural: str
    endings: tuple[str, ...]
    begins: tuple[str, ...] = ()
    offset: int = 0
    pattern: str = ""
    writer: str = ""
    swelling: float = 1.0
    part: str = ""
    encodings: bool = False
