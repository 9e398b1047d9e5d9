"""Documents of headings, text, tables and pictures as HTML, Markdown, LaTeX and CSV."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import html
import io
import math
import re
from collections.abc import Sequence
from pathlib import Path
from string import Template

from aucstudio import __version__
from aucstudio.project.resources import resource_path
from aucstudio.project.store.files import write_atomically
from aucstudio.project.store.scores_file import CsvForm, write_csv

MARKDOWN = (".md", ".markdown")
Cell = str | float | int
# Characters that begin emphasis, code, a link, a heading, a table cell, a tag or an entity in
# Markdown; an underscore within a word begins nothing.
_MARKS = re.compile(r"[\\`*\[\]|]|(?<!\w)_|_(?!\w)|^#")
_TAG = re.compile(r"<(?=[A-Za-z/!?])|&(?=#?\w+;)")
_RULES, _BOOKTABS = ("\\hline",) * 3, ("\\toprule", "\\midrule", "\\bottomrule")
_LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "−": "$-$",
}


@dataclasses.dataclass(frozen=True)
class Heading:
    """The title of a section."""

    text: str


@dataclasses.dataclass(frozen=True)
class Paragraph:
    """Sentences; a ``small`` paragraph is set in a quieter colour."""

    text: str
    small: bool = False


@dataclasses.dataclass(frozen=True)
class BulletList:
    """Sentences, one to a point."""

    points: Sequence[str]


@dataclasses.dataclass(frozen=True)
class TextTable:
    """A table of texts and numbers.

    Columns of numbers are aligned right, and so are all but the first if ``numeric``. Numbers are
    rounded to three decimals, except in CSV.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numeric: bool = True

    def texts(self) -> list[list[str]]:
        """Return the rows with rounded numbers."""
        return [[_rounded(cell) for cell in row] for row in self.rows]

    def aligned_right(self) -> list[bool]:
        """Return which columns are aligned right."""
        first = self.rows[0] if self.rows else self.heads
        return [
            (self.numeric and k > 0) or not isinstance(cell, str) for k, cell in enumerate(first)
        ]


@dataclasses.dataclass(frozen=True)
class Picture:
    """A vector picture.

    Attributes
    ----------
    caption : str
    svg : bytes
    """

    caption: str
    svg: bytes


@dataclasses.dataclass(frozen=True)
class Code:
    """Lines in a fixed-width font, as they are."""

    text: str


Block = Heading | Paragraph | BulletList | TextTable | Picture | Code


def write_page(path: Path, title: str, blocks: Sequence[Block]) -> None:
    """Write a page as Markdown if the name ends in .md or .markdown, and as HTML if not.

    Pictures are part of the file in both formats.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    as_text = as_markdown if path.suffix.lower() in MARKDOWN else as_html
    made = f"Made by AUC Studio {__version__} on {datetime.date.today().isoformat()}."
    write_atomically(path, as_text(title, [*blocks, Paragraph(made, small=True)]))


def as_html(title: str, blocks: Sequence[Block]) -> str:
    """Return a self-contained HTML page."""
    page = Template(resource_path("report", "report.html").read_text(encoding="utf-8"))
    return page.substitute(
        title=html.escape(title), body="\n".join(_html_block(block) for block in blocks)
    )


def as_markdown(title: str, blocks: Sequence[Block]) -> str:
    """Return a page as Markdown with tables as GitHub and Pandoc read them."""
    return f"# {_markdown_text(title)}\n\n{markdown_blocks(blocks)}\n"


def markdown_blocks(blocks: Sequence[Block]) -> str:
    """Return blocks as Markdown, without a title."""
    return "\n\n".join(map(_markdown_block, blocks))


def tables_as_csv(tables: Sequence[TextTable], delimiter: str = ",") -> str:
    """Return tables with all digits, a blank line between them; unknown numbers are empty."""
    texts = []
    for table in tables:
        text = io.StringIO()
        write_csv(text, [table.heads, *table.rows], CsvForm(delimiter))
        texts.append(text.getvalue())
    return "\n".join(texts).replace("\N{NO-BREAK SPACE}", " ")  # of names of runs


def tables_as_latex(tables: Sequence[TextTable], *, booktabs: bool = False) -> str:
    """Return tables as LaTeX tabulars.

    Parameters
    ----------
    tables : sequence of TextTable
    booktabs : bool
        Whether to use the rules of the package booktabs; without it no package is needed.
    """
    return "\n".join(_latex_table(table, _BOOKTABS if booktabs else _RULES) for table in tables)


def _html_block(block: Block) -> str:
    match block:
        case Heading(text):
            return f"<h2>{html.escape(text)}</h2>"
        case Paragraph(text, small):
            tag = '<p class="muted">' if small else "<p>"
            return f"{tag}{html.escape(text)}</p>"
        case BulletList(points):
            return f"<ul>{''.join(f'<li>{html.escape(point)}</li>' for point in points)}</ul>"
        case TextTable():
            return _html_table(block)
        case Picture(caption, svg):
            text, encoded = html.escape(caption), base64.b64encode(svg).decode()
            image = f'<img alt="{text}" src="data:image/svg+xml;base64,{encoded}">'
            return f"<figure>{image}<figcaption>{text}</figcaption></figure>"
        case Code(text):
            return f"<pre><code>{html.escape(text)}</code></pre>"


def _html_table(table: TextTable) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

    kind = "numbers" if table.numeric else "words"
    lines = [row(table.heads, "th"), *(row(cells, "td") for cells in table.texts())]
    return f'<div class="wide"><table class="{kind}">\n' + "\n".join(lines) + "\n</table></div>"


def _markdown_block(block: Block) -> str:
    match block:
        case Heading(text):
            return f"## {_markdown_text(text)}"
        case Paragraph(text):
            return _markdown_text(text)
        case BulletList(points):
            return "\n".join(f"- {_markdown_text(point)}" for point in points)
        case TextTable():
            return _markdown_table(block)
        case Picture(caption, svg):
            encoded = base64.b64encode(svg).decode()
            return f"![{_markdown_text(caption)}](data:image/svg+xml;base64,{encoded})"
        case Code(text):
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
            return f"{fence}\n{text.rstrip()}\n{fence}"


def _markdown_table(table: TextTable) -> str:
    rule = ["---:" if right else "---" for right in table.aligned_right()]
    rows = [[_markdown_text(cell) for cell in row] for row in (table.heads, *table.texts())]
    return "\n".join(f"| {' | '.join(line)} |" for line in (rows[0], rule, *rows[1:]))


def _markdown_text(text: str) -> str:
    """Escape what Markdown reads as markup, on one line."""
    line = _MARKS.sub(r"\\\g<0>", " ".join(text.split()))
    return _TAG.sub(lambda found: html.escape(found[0]), line)


def _latex_table(table: TextTable, rules: tuple[str, str, str]) -> str:
    columns = "".join("r" if right else "l" for right in table.aligned_right())
    rows = [[_latex_text(cell) for cell in row] for row in table.texts()]
    head, *body = (f"{' & '.join(line)} \\\\" for line in (table.heads, *rows))
    top, middle, bottom = rules
    begin = f"\\begin{{tabular}}{{{columns}}}"
    return "\n".join([begin, top, head, middle, *body, bottom, "\\end{tabular}", ""])


def _latex_text(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _rounded(cell: Cell) -> str:
    if not isinstance(cell, float):
        return str(cell)
    if math.isnan(cell):
        return ""
    text = f"{cell:.3f}"
    text = f"{cell:.2g}" if cell and text.strip("-") == "0.000" else text
    return text.replace("-", "−")
