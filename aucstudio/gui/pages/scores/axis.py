"""The upright axis of the Scores page: densities, or counts of rows on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QRectF

from aucstudio.gui.common.plotting import NumberAxis

_BEYOND = 8.0  # pixels by which the number at an end may stand out


class HeightAxis(NumberAxis):
    """Marks densities at round numbers, and counts at 1, 2, 5, 10 … rows."""

    def setLabel(self, *arguments: Any, **options: Any) -> None:
        super().setLabel(*arguments, **options)
        self.resizeEvent()  # else other words stay where the former ones began

    def boundingRect(self) -> QRectF:
        """Give the room of the axis, with the halves of the numbers at its very ends."""
        found: QRectF = super().boundingRect()
        return found.adjusted(0.0, -_BEYOND, 0.0, _BEYOND)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        if not self.logMode:
            found: list[tuple[float, list[float]]] = super().tickValues(low, high, size)
            return found
        # There is no part of a row.
        decades = np.arange(max(0, math.ceil(low) - 1), math.floor(high) + 1, dtype=np.float64)
        between = np.sort(np.concatenate([decades + math.log10(2), decades + math.log10(5)]))
        seen = [level[(level >= low) & (level <= high)] for level in (decades, between)]
        return [(1.0, seen[0].tolist()), (0.3, seen[1].tolist())]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        if not self.logMode:
            return super().tickStrings(values, scale, spacing)
        return [f"{round(10.0**value):,}" for value in values]
