"""How often intervals hold the truth and tests reject a true null where rows come in groups.

    python -m tests.benchmarks.inference_groups [--draws 1000] [--designs NAME,...] [--bands ...]

Scores are normal: a group's effect of variance ICC, a row's own of variance 1 - ICC, positives
moved by mu. Two scores of the same rows are equal in distribution. Every line shows coverage,
mean width and level of the program's interval and test. Nominal are 95 % and 5 %; with 1,000 draws
a share of .95 has the standard error .007.

In designs whose groups have one class each, the truth is that of the population. Where classes mix
within groups, pairs within a group rank differently from others; the truth is then the mean over
the draws.
"""

import argparse
import dataclasses
import math
import time
import zlib

import numpy as np

from aucstudio.engine import inference, roc
from tests.benchmarks.inference_grid import NORMAL, true_area

AUC = (0.0, 1.0)
BANDS = (AUC, (0.0, 0.1), (0.0, 0.2))
POINT = 0.1
_SHARED = 0.5  # correlation of the two scores


@dataclasses.dataclass(frozen=True)
class Design:
    """Groups of rows: their sizes in a draw, whether each has one class, and their ICC."""

    sizes: object
    mixed: bool
    icc: float = 0.5
    mu: float = 1.0
    positives: float = 0.5

    def draw(self, rng):
        """Draw labels, groups and two scores."""
        sizes = self.sizes(rng) if callable(self.sizes) else np.asarray(self.sizes)
        count, group = len(sizes), np.repeat(np.arange(len(sizes)), sizes)
        if self.mixed:
            y = rng.random(len(group)) < self.positives
        else:
            of_group = np.zeros(count, dtype=bool)
            of_group[rng.permutation(count)[: round(self.positives * count)]] = True
            y = of_group[group]
        effects, own = (
            math.sqrt(_SHARED) * rng.standard_normal(k)
            + math.sqrt(1 - _SHARED) * rng.standard_normal((2, k))
            for k in (count, len(group))
        )
        scores = math.sqrt(self.icc) * effects[:, group] + math.sqrt(1 - self.icc) * own
        return y, group, scores + self.mu * y


def lognormal(count, spread=1.0, mean=5):
    def sizes(rng):
        drawn = rng.lognormal(0.0, spread, count)
        return np.maximum(1, np.round(drawn * mean / math.exp(spread**2 / 2))).astype(int)

    return sizes


def one_large(count, size, share):
    """One group with a share of all rows, and others of equal size."""
    return [round(share / (1 - share) * count * size)] + [size] * count


DESIGNS = {
    "40 x 5": Design([5] * 40, False),
    "100 x 3": Design([3] * 100, False),
    "40 x 5 mixed": Design([5] * 40, True),
    "100 x 3 mixed": Design([3] * 100, True),
    "30 x 20 mixed": Design([20] * 30, True, 0.2),
    "60 x 10, AUC .92": Design([10] * 60, False, 0.3, 2.0, 0.3),
    "24 x 10": Design([10] * 24, False),
    "12 x 10": Design([10] * 12, False),
    "12 x 10 mixed": Design([10] * 12, True),
    "6 x 20 mixed": Design([20] * 6, True),
    "lognormal 40": Design(lognormal(40), False),
    "lognormal 40 mixed": Design(lognormal(40), True),
    "lognormal 20 mixed": Design(lognormal(20, 1.0, 10), True, 0.2),
    "one of 30 %": Design(one_large(60, 3, 0.3), False),
    "one of 30 % mixed": Design(one_large(60, 3, 0.3), True),
    "one of 30 %, ICC .1": Design(one_large(60, 3, 0.3), True, 0.1),
}


def samples(name, draws):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    for _ in range(draws):
        y, group, scores = DESIGNS[name].draw(rng)
        if min(len(set(group[y])), len(set(group[~y]))) > 1:
            yield y, group, scores


def point_interval(y, score, groups):
    """Bound the TPR at one FPR."""
    ranking = roc.Ranking.of(y, score, groups=groups)
    found = inference.pointwise_band(ranking, grid=[POINT])
    return float(roc.tpr_at(ranking.curve, POINT)), float(found.low[0]), float(found.high[0])


def measured(y, group, scores, band):
    """Return (value, low, high, p); p is NaN for a point."""
    if band is None:
        return *point_interval(y, scores[0], group), math.nan
    area = inference.pauc_interval(y, scores[0], *band, groups=group)
    if band == AUC:
        p = inference.auc_test(y, *scores, groups=group).p
    else:
        p = inference.pauc_test(y, *scores, *band, groups=group).p
    return area.value, area.low, area.high, p


def truth(design, band, values):
    if design.mixed:
        return float(np.mean(values))
    if band is None:
        return true_area(NORMAL, design.mu, POINT - 1e-4, POINT + 1e-4)
    return true_area(NORMAL, design.mu, *band)


def figures(found, true):
    """Return coverage, width, level and the share of draws without an interval."""
    _, low, high, p = found.T
    there, tested = ~np.isnan(low), ~np.isnan(p)
    if not there.any():
        return math.nan, math.nan, math.nan, 1.0
    held = ((low <= true) & (true <= high))[there].mean()
    level = (p[tested] < 0.05).mean() if tested.any() else math.nan
    return held, (high - low)[there].mean(), level, 1 - there.mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--designs", default=";".join(DESIGNS))
    parser.add_argument("--bands", default="auc,0.1,0.2,point")
    wanted = parser.parse_args()
    bands = {"auc": AUC, "0.1": (0.0, 0.1), "0.2": (0.0, 0.2), "point": None}
    print("design               measure   coverage width level absent")
    for name in wanted.designs.split(";"):
        for key in wanted.bands.split(","):
            start = time.perf_counter()
            found = np.array(
                [measured(*sample, bands[key]) for sample in samples(name, wanted.draws)]
            )
            true = truth(DESIGNS[name], bands[key], found[:, 0])
            line = "{:.3f} {:.3f} {:.3f} {:.2f}".format(*figures(found, true))
            seconds = time.perf_counter() - start
            print(f"{name:20} {key:8}  {line}   {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
