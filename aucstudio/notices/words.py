"""Number formatting for people, and spelling suggestions."""

from __future__ import annotations

import datetime
import difflib
import math
import re
from collections.abc import Iterable, Sequence

_MOST_DECIMALS = 6
_PLAIN_FROM, _PLAIN_TO = 1e-4, 1e6  # settings that are written without a power of ten
_LISTED = 10  # names in a sentence


def p_words(p: float) -> str:
    """Write a p-value as ``p = 0.41`` or ``p < 0.001``."""
    number = p_number(p)
    return f"p {number}" if number.startswith("<") else f"p = {number}"


def p_words_corrected(p: float, corrected: float, name: str) -> str:
    """Write a p-value beside its correction: ``p = 0.02, Holm-corrected p = 0.06``."""
    return f"{p_words(p)}, {name}-corrected {p_words(corrected)}"


def p_number(p: float) -> str:
    """Write a p-value alone."""
    if math.isnan(p):
        return "–"
    if p < 0.001:
        return "< 0.001"
    return f"{p:.2f}" if p >= 0.0995 else f"{p:.2g}"


def figure_words(value: float, sign: str = "") -> str:
    """Write an area or a difference of areas with three decimals and a true minus.

    A value that would round to 0 or ±1 has more decimals, up to six.
    """
    if math.isnan(value):
        return "–"
    ends = (-1.0, 0.0, 1.0)
    texts = (f"{value:{sign}.{decimals}f}" for decimals in range(3, _MOST_DECIMALS + 1))
    enough = (text for text in texts if value in ends or float(text) not in ends)
    text = next(enough, f"{value:{sign}.3f}").replace("-", "−")
    return re.sub(r"^[−+](0\.000)$", r"\1", text)


def score_words(value: float, digits: str = ".4g") -> str:
    """Write a score, or another number in a format, with a true minus; a dash if not finite."""
    return format(value, digits).replace("-", "−") if math.isfinite(value) else "–"


def interval_words(low: float, high: float) -> str:
    """Write an interval as ``0.931–0.968``, or ``−0.006 to 0.014`` if a limit is negative."""
    if math.isnan(low) or math.isnan(high):
        return "–"
    between = " to " if low < 0 else "–"
    return f"{figure_words(low)}{between}{figure_words(high)}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align rows of text in columns, with a rule below the first row."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return [lines[0], "-" * max(map(len, lines)), *lines[1:]]


def titled(name: str, run: str) -> str:
    """Return the name of a run followed by its id, unless the name contains it."""
    return name if run in name else f"{name} ({run})"


def class_words(name: str) -> str:
    """Format the name of a class; one without letters is quoted: “+”."""
    return name if any(letter.isalpha() for letter in name) else f"“{name}”"


def as_sentence(words: str) -> str:
    """Format a notice as a stand-alone sentence."""
    ended = words if words.endswith(("…", "?")) else words.rstrip(".") + "."
    return ended[:1].upper() + ended[1:]


def power_words(value: float, decimals: int = 0) -> str:
    """Write a number as 2·10⁻⁷."""
    if not value:
        return "0"
    mantissa, exponent = f"{value:.{decimals}e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{mantissa}·10{raised}".replace("-", "−")


def setting_words(value: float) -> str:
    """Write the number of a setting: plainly from 0.0001 to a million, else as 2.5·10⁻⁷.

    Whole numbers keep every digit, others have four.
    """
    size = abs(value)
    if not math.isfinite(value) or size == 0:
        return f"{value:g}".replace("-", "−")
    if not _PLAIN_FROM <= size < _PLAIN_TO:
        decimals = len(f"{value:.3e}".split("e")[0].lstrip("-").rstrip("0")) - 2
        return re.sub(r"^(−?)1·", r"\1", power_words(value, decimals))
    text = f"{value:.0f}" if value == round(value) or size >= 9_999.5 else f"{value:.4g}"
    return text.replace("-", "−")


def percent_words(share: float) -> str:
    """Write a share as ``25 %`` or ``0.5 %``."""
    return f"{100 * share:.3g} %" if math.isfinite(share) else "–"


def range_words(band: tuple[float, float]) -> str:
    """Write a range of rates as ``0 … 0.1``."""
    return f"{setting_words(band[0])} … {setting_words(band[1])}"


def counted(count: float, noun: str, plural: str = "") -> str:
    """Write a number of things: ``1 split``, ``1,000 splits``."""
    return f"{count:,.0f} {noun if count == 1 else plural or noun + 's'}"


def joined(values: Iterable[object], word: str) -> str:
    """Join values with commas and a word: ``a, b and c``."""
    *first, last = map(str, values)
    return f"{', '.join(first)} {word} {last}" if first else last


def listed(names: Sequence[str], shown: int = _LISTED) -> str:
    """Join the first names with commas, and append how many more there are."""
    more = f" and {len(names) - shown:,} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def seconds_words(seconds: float) -> str:
    """Write a time with two significant digits, or in whole seconds from 10 s."""
    if seconds < 0.0995:
        return f"{1000 * seconds:.2g} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:,.0f} s"


def elapsed_words(seconds: float) -> str:
    """Write an elapsed time in whole seconds."""
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        parts = (minutes, "min"), (rest, "s")
    else:
        parts = (minutes // 60, "h"), (minutes % 60, "min")
    return " ".join(f"{count:,} {unit}" for count, unit in parts if count) or "0 s"


def rough_words(seconds: float) -> str:
    """Write an estimated time, with two digits at most."""
    if seconds < 0.095:
        return f"{float(f'{1000 * seconds:.1g}'):.0f} ms"
    if seconds < 9.5:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:,.0f} h"


def bytes_words(count: float) -> str:
    """Write an amount of memory, with two digits at most below 10 GB."""
    if count < 9.5e6:
        return f"{max(1.0, count / 1e6):.0f} MB"
    if count < 950e6:
        return f"{float(f'{count / 1e6:.2g}'):.0f} MB"
    return f"{count / 1e9:.1f} GB" if count < 10e9 else f"{count / 1e9:,.0f} GB"


def file_words(name: str) -> str:
    """Return a file name as text that can be stored: bytes that are not UTF-8 are replaced."""
    return name.encode("utf-8", "replace").decode()


def suggestion(wanted: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'age'?"`` for an unknown name; empty if no known name is similar.

    Names that differ only in case, blanks, hyphens or underscores are preferred to similar names.
    """
    plain = {_plain(name): name for name in known}
    asked = _plain(wanted)
    near = [asked] if asked in plain else difflib.get_close_matches(asked, plain, n=1, cutoff=0.7)
    near = near or [name for name in plain if _swaps_or_begins(asked, name)]
    return f"; did you mean {plain[near[0]]!r}?" if near else ""


def _swaps_or_begins(asked: str, name: str) -> bool:
    """Return whether letters were swapped, or the end of a name is missing."""
    return sorted(asked) == sorted(name) or (len(asked) > 2 and name.startswith(asked))


def _plain(name: str) -> str:
    return re.sub(r"[\s_.-]+", "", name).casefold()


def runs_words(count: int) -> str:
    """Write a number of runs: ``1 run``, ``1,000 runs``."""
    return counted(count, "run")


def day_words(then: datetime.datetime, now: datetime.datetime) -> str:
    """Write a past day relative to now."""
    days = (now.date() - then.date()).days
    if days == 0:
        return f"today, {then:%H:%M}"
    if days == 1:
        return "yesterday"
    if 1 < days < 7:
        return f"{then:%A}"
    return f"{then.day} {then:%B}" + ("" if then.year == now.year else f" {then.year}")
