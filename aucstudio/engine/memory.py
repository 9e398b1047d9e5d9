"""How much memory there is, and the one rule by which a fit is refused that would not fit there."""

from __future__ import annotations

from aucstudio.engine.cost import Cost
from aucstudio.engine.params import InvalidSetting

_MOST_OF_MEMORY = 0.8
_SMALLER = "take the linear kernel or train on a sample of the rows"


def largest_memory(memory: float) -> float:
    """Return the bytes that runs may take of a machine's memory."""
    return _MOST_OF_MEMORY * memory


def machine_memory() -> float:
    """Return the bytes of memory that the machine has.

    All of it, not what is free: much of what is taken at a moment is a cache that gives way.
    """
    import psutil

    return float(psutil.virtual_memory().total)


def machine_processors() -> int:
    """Count the processors, on each of which a fit may have memory of its own."""
    import psutil

    return psutil.cpu_count() or 1


def refuse_beyond_memory(cost: Cost, what: str) -> None:
    """Refuse what would take more than the machine may give.

    Raises
    ------
    InvalidSetting
        With what it would take, what there is, and what to do instead.
    """
    memory = machine_memory()
    if cost.bytes > largest_memory(memory):
        raise InvalidSetting(
            cost.setting,
            f"{what} would take about {_words(cost.bytes)} of memory, and this machine has "
            f"{_words(memory)}: {cost.advice}",
        )


def refuse_kernel_matrix(
    rows: int, most: int, setting: str = "kernel", advice: str = _SMALLER, *, factored: bool = False
) -> None:
    """Refuse more rows than their kernel matrix has room for.

    Raises
    ------
    InvalidSetting
        In the name of a setting, with the size of the matrix and the advice.
    """
    if rows > most:
        size = f"{8 * (1 + factored) * rows**2 / 1e9:.1f} GB" + " with its factor" * factored
        raise InvalidSetting(
            setting,
            f"this kernel needs the {rows:,} × {rows:,} matrix of all rows, {size}; beyond "
            f"{most:,} rows {advice}",
        )


def _words(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{max(size / 1e6, 0.1):.1f} MB"
