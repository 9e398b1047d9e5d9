"""Memory and time of a fit, from operation counts and the speed of this machine.

Counts of work are those of one thread; they leave out what is unknown before the fit, such as how
hard the classes are to separate: a typical number of steps is assumed.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable

from aucstudio.engine.params import InvalidSetting
from aucstudio.notices import text

NUMBER = 8
"""Bytes of a number in double precision."""

_FIXED_BYTES = 1e6
_BYTES_PER_ROW = 64  # labels, scores, and copies of both for the threshold
_FIXED_SECONDS = 2e-3
_SECONDS_PER_STEP = 3e-5  # a handful of calls of numpy
_EDGE = 64  # products of this size run on one thread, whatever the library is allowed
_LENGTH = 1 << 14
_PASSES = 2.5  # a long array is not in the cache, as this short one is


Advice = tuple[str, str]
"""Name of the setting to change where a fit is too large, and the words that say how."""

SAMPLE: Advice = ("method", "train on a sample of the rows")
NO_KERNEL: Advice = (
    "kernel",
    "take the linear kernel, NBAUC with some hundred landmarks instead of the kernel matrix, or a "
    "sample of the rows",
)
NEIGHBOURS: Advice = (
    "n_neighbors",
    "pair each positive with its 10 nearest negatives, for example",
)
FEWER_FEATURES: Advice = ("method", "use fewer features or a stochastic method")
FEWER_LANDMARKS: Advice = ("n_landmarks", "use fewer landmarks or a sample of the rows")
FEWER_KNOTS: Advice = ("n_knots", "use fewer knots or a sample of the rows")
FEW_CELLS = 4_000_000
"""Features that take less room than so many numbers need no saving."""

_MOST_SAMPLED_FEATURES = 256
_MOST_OF_MEMORY = 0.8
_SMALLER = "take the linear kernel or train on a sample of the rows"


@dataclasses.dataclass(frozen=True)
class Cost:
    """What one fit will take.

    Attributes
    ----------
    bytes : float
        Peak memory without the table itself.
    seconds : float or None
        Time; None where no estimate is available.
    setting : str
        Name of the setting to change where this is too much; "method" for the method itself.
    advice : str
        What to do then.
    """

    bytes: float
    seconds: float | None
    setting: str = SAMPLE[0]
    advice: str = SAMPLE[1]

    @property
    def words(self) -> str:
        """Time and memory in a few words."""
        return text("cost_per_fit", seconds=self.seconds, bytes=self.bytes)


@dataclasses.dataclass(frozen=True)
class Speed:
    """Seconds that this machine takes for one multiplication, one number, one exponential.

    Attributes
    ----------
    product : float
        Multiplication and addition within a product of large matrices.
    number : float
        Number of a long array that is read, or written.
    exponential : float
    """

    product: float
    number: float
    exponential: float


@functools.cache
def speed() -> Speed:
    """Measure the machine once, in a few milliseconds."""
    import numpy as np  # loaded here: texts of help need the declarations alone

    square, line = np.full((_EDGE, _EDGE), 0.5), np.linspace(-1.0, 0.0, _LENGTH)
    out, target = np.empty_like(square), np.empty_like(line)
    return Speed(
        _quickest(lambda: np.matmul(square, square, out=out)) / _EDGE**3,
        _PASSES * _quickest(lambda: np.add(line, line, out=target)) / _LENGTH,
        _quickest(lambda: np.exp(line, out=target)) / _LENGTH,
    )


def _quickest(work: Callable[[], object], times: int = 25) -> float:
    """Return the time of the quickest of some runs: the others were interrupted."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken)


@dataclasses.dataclass(frozen=True)
class Work:
    """What there is to compute.

    Attributes
    ----------
    products : float
        Multiplications in products of matrices.
    numbers : float
        Numbers that pass through the processor otherwise.
    exponentials : float
    steps : float
        Rounds of a few library calls each.
    """

    products: float = 0.0
    numbers: float = 0.0
    exponentials: float = 0.0
    steps: float = 0.0

    def __add__(self, other: Work) -> Work:
        mine, others = dataclasses.astuple(self), dataclasses.astuple(other)
        return Work(*(a + b for a, b in zip(mine, others, strict=True)))

    def times(self, count: float) -> Work:
        """Return the work of doing this several times."""
        return Work(*(count * part for part in dataclasses.astuple(self)))

    @property
    def seconds(self) -> float:
        """Time on this machine."""
        machine = speed()
        return (
            self.products * machine.product
            + self.numbers * machine.number
            + self.exponentials * machine.exponential
            + self.steps * _SECONDS_PER_STEP
        )


def cost_of(rows: int, memory: float, work: Work, advice: Advice = SAMPLE) -> Cost:
    """Make a cost of a method's arrays and work; what every fit does with its rows is added.

    Parameters
    ----------
    rows : int
    memory : float
        Bytes of the method's own arrays at their peak.
    work : Work
    advice : Advice
    """
    seconds = _FIXED_SECONDS + (work + Work(numbers=50.0 * rows)).seconds
    return Cost(_FIXED_BYTES + _BYTES_PER_ROW * rows + memory, seconds, *advice)


def kernel_matrix(rows: int, features: int) -> Work:
    """Count what the kernel values of all rows take."""
    square = float(rows) ** 2
    return Work(products=square * features, numbers=2 * square, exponentials=square)


def landmarks(rows: int, features: int, count: int, *, rounds: int, at_once: int) -> Work:
    """Count what clustering the rows, and their features by the clusters' centres, take."""
    from aucstudio.engine.features import ROWS_TO_CLUSTER

    drawn, v = float(min(rows, ROWS_TO_CLUSTER)), float(min(count, rows))
    start = Work(numbers=v * drawn * (4 + 4 / at_once), steps=v / at_once)
    round_ = Work(products=drawn * v * features, numbers=2 * drawn * v)
    embedding = Work(products=rows * v * (v + features), numbers=4 * rows * v)
    return start + round_.times(rounds) + embedding + Work(exponentials=rows * v)


def cluster_bytes(rows: int, features: int, at_once: int) -> float:
    """Return the memory that choosing landmarks takes."""
    from aucstudio.engine.features import ROWS_TO_CLUSTER

    return NUMBER * min(rows, ROWS_TO_CLUSTER) * (3.0 * features + 3.0 * at_once + 4.0)


def cutting_planes(rows: int, features: int, count: int) -> Work:
    """Count what so many cuts on a risk that sorts all scores take."""
    return Work(numbers=3.0 * rows * features + 250.0 * rows, steps=20).times(count)


def newton(rows: int, features: int, size: int) -> Work:
    """Count what Newton's method takes on features of so many bytes each."""
    return Work(numbers=3.0 * size * rows * features + 1500.0 * rows, steps=300)


def newton_bytes(rows: int, features: int, size: int) -> float:
    """Return the memory of Newton's method, features themselves aside."""
    sample = min(rows, max(1_000, 32 * features))
    if features > _MOST_SAMPLED_FEATURES and size == NUMBER:
        sample = min(rows, 4_096)
    return 2.0 * size * sample * features + 120.0 * rows


def kernel_newton(rows: int, features: int) -> Work:
    """Count what Newton's method takes on a kernel matrix, and the matrix itself."""
    return kernel_matrix(rows, features) + Work(numbers=28 * rows**2 + 3000 * rows, steps=300)


def largest_memory(memory: float) -> float:
    """Return the bytes that runs may take of a machine's memory."""
    return _MOST_OF_MEMORY * memory


def machine_memory() -> float:
    """Return the bytes of memory that the machine has.

    All of it, not the free part: much of the used memory is cache that is released on demand.
    """
    import psutil

    return float(psutil.virtual_memory().total)


def machine_processors() -> int:
    """Count the processors, on each of which a fit may have memory of its own."""
    import psutil

    return psutil.cpu_count() or 1


def refuse_beyond_memory(cost: Cost, what: str) -> None:
    """Refuse what would take more memory than the machine can give.

    Raises
    ------
    InvalidSetting
        With what it would take, what there is, and what to do instead.
    """
    memory = machine_memory()
    if cost.bytes > largest_memory(memory):
        known = {"what": what, "bytes": _words(cost.bytes), "memory": _words(memory)}
        raise InvalidSetting(cost.setting, text("beyond_memory", advice=cost.advice, **known))


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
        known = {"size": 8 * (1 + factored) * rows**2 / 1e9, "factored": factored}
        raise InvalidSetting(
            setting, text("kernel_beyond_memory", rows=rows, most=most, advice=advice, **known)
        )


def _words(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{max(size / 1e6, 0.1):.1f} MB"
