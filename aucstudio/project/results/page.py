"""Pages of text, tables and pictures as HTML or Markdown."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import html
import re
from collections.abc import Sequence
from pathlib import Path
from string import Template

from aucstudio import __version__
from aucstudio.project.resources import resource_path
from aucstudio.project.store.files import write_atomically

MARKDOWN = (".md", ".markdown")
# Characters that begin emphasis, code, a link, a heading or a table cell in Markdown.
_MARKS = re.compile(r"([\\`*_\[\]|#])")


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
    """Cells as text; the first column is aligned left, the others as ``numeric`` says."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: bool = True


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
    parts = [f"# {_markdown_text(title)}", *(_markdown_block(block) for block in blocks)]
    return "\n\n".join(parts) + "\n"


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
    lines = [row(table.heads, "th"), *(row(cells, "td") for cells in table.rows)]
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
    rule = ["---", *(["---:" if table.numeric else "---"] * (len(table.heads) - 1))]
    rows = [[_markdown_text(cell) for cell in row] for row in (table.heads, *table.rows)]
    lines = [rows[0], rule, *rows[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _markdown_text(text: str) -> str:
    """Escape what Markdown would read as markup, on one line."""
    return html.escape(_MARKS.sub(r"\\\1", " ".join(text.split())), quote=False)
