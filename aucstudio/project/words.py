"""How numbers are written for people: with a true minus and as many digits as they deserve."""

from __future__ import annotations

import math
import re


def p_words(p: float) -> str:
    """Write a p-value as ``p = 0.41`` or ``p < 0.001``."""
    number = p_number(p)
    return f"p {number}" if number.startswith("<") else f"p = {number}"


def p_number(p: float) -> str:
    """Write a p-value alone."""
    if math.isnan(p):
        return "–"
    if p < 0.001:
        return "< 0.001"
    return f"{p:.2f}" if p >= 0.0995 else f"{p:.2g}"


def figure_words(value: float, sign: str = "") -> str:
    """Write an area or a difference of areas with three decimals and a true minus."""
    text = f"{value:{sign}.3f}".replace("-", "−")
    return "–" if math.isnan(value) else re.sub(r"^[−+](0\.000)$", r"\1", text)


def interval_words(low: float, high: float) -> str:
    """Write an interval as ``0.931 … 0.968``."""
    if math.isnan(low) or math.isnan(high):
        return "–"
    return f"{figure_words(low)} … {figure_words(high)}"


def power_words(value: float, decimals: int = 0) -> str:
    """Write a number as 2·10⁻⁷."""
    if not value:
        return "0"
    mantissa, exponent = f"{value:.{decimals}e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{mantissa}·10{raised}".replace("-", "−")


def seconds_words(seconds: float) -> str:
    """Write a time with as many digits as it deserves."""
    if seconds < 0.0995:
        return f"{1000 * seconds:.2g} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:,.0f} s"
