"""Interface of a table format.

Two readers know cells: that of delimited text and that of Parquet. Every other format is written as
one of these first, so that kinds, number formats, names and missing values are found in one way,
and a later file in any format is read by the same schema.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from aucstudio.project.data.finding import Finding
from aucstudio.project.typed import Sendable

# Told the fraction done; may raise to stop.
Advance = Callable[[float], None]

TEXT: Final = "text"
PARQUET: Final = "parquet"
MATRIX: Final = "matrix"
FILE: Final = "file"
Kind = Literal["text", "parquet", "matrix", "file"]

# How the rows are written that a format with names and types of its own leaves.
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
    """How a file is to be read, and which part of it.

    Attributes
    ----------
    part : str
        The sheet, table or member that a person named; empty if none.
    usual : str
        The one that the training table was, which is taken where the file has it.
    encoding : str
        That a person set; empty if none.
    kinds : dict of str to str
        What the columns of the training table hold, "number" or "text"; empty without one.
    enough : int
        Bytes of an unpacked file that are enough; 0 if all are wanted.
    strict : bool
        Whether the first row that cannot be read refuses the file.
    """

    part: str = ""
    usual: str = ""
    encoding: str = ""
    kinds: dict[str, str] = dataclasses.field(default_factory=dict)
    enough: int = 0
    strict: bool = False


@dataclasses.dataclass(frozen=True)
class Written(Sendable):
    """What a file was written as.

    Attributes
    ----------
    kind : {"text", "parquet", "matrix", "file"}
        "matrix" for numbers of which most are zero; "file" if it was unpacked only, and has yet
        to be recognised.
    known : dict of part to value
        The parts of the dialect that need no guess.
    remarks : tuple of Finding
    part : str
        The sheet, table or member that was read; empty where there is one only.
    parts : tuple of str
        All there are.
    texts : tuple of str
        Columns that hold text, whatever their cells look like.
    roles : dict of str to str
        What the file says that columns are for.
    name : str
        What an unpacked file is called.
    """

    kind: Kind = "text"
    known: dict[str, Any] = dataclasses.field(default_factory=dict)
    remarks: tuple[Finding, ...] = ()
    part: str = ""
    parts: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    roles: dict[str, str] = dataclasses.field(default_factory=dict)
    name: str = ""


Write = Callable[[Path, Path, ReadOptions, Advance], Written]
# Asked of a file and its first bytes.
Recognise = Callable[[Path, bytes], bool]


@dataclasses.dataclass(frozen=True)
class Format:
    """A format of tables.

    Attributes
    ----------
    key : str
        What ``inspect`` calls it.
    title : str
        What a sentence calls it: "an Excel workbook".
    plural : str
        What a file dialog calls it: "Excel workbooks".
    endings : tuple of str
    recognises : callable
        Given a file and its first bytes, tells whether it is of this format; cheap, as it is asked
        of every file.
    writer : str
        ``module:function`` of this package, which writes it as a file that the readers take, in a
        process of its own; empty if it is one. It may raise anything, and take any memory and
        time. The module is imported there alone.
    swelling : float
        How many times its size the cells take in memory, as a guess.
    part : str
        What ``--sheet`` names in it: "sheet", "table" or "member"; empty if it has one table.
    encodings : bool
        Whether an encoding can be set.
    """

    key: str
    title: str
    plural: str
    endings: tuple[str, ...]
    recognises: Recognise
    writer: str = ""
    swelling: float = 1.0
    part: str = ""
    encodings: bool = False
