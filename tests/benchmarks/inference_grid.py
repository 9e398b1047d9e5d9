"""How often intervals hold the truth and tests reject a true null, over a grid of score models.

    python -m tests.benchmarks.inference_grid [--draws 200] [--tables auc,interval,test,...]

Scores are normal, Student's t on 3 degrees of freedom, or lognormal, the positives' moved by mu;
two scores of the same rows have correlation rho; "rounded" ones have ties. Every line gives the
least, the mean and the greatest share over the models and shifts of its cell. Nominal are 95 %
and 5 %. With 200 samples a share of .95 has the standard error .015, and the least of seven such
shares is .93 on average.
"""

import argparse
import functools
import itertools
import math
import time

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from aucstudio.engine import inference, roc

NORMAL, HEAVY, SKEWED = "normal", "t3", "lognormal"
MODELS = {NORMAL: stats.norm(), HEAVY: stats.t(3), SKEWED: stats.lognorm(1)}
SHIFTED = [
    *((NORMAL, mu) for mu in (0.0, 1.0, 2.5)),
    *((HEAVY, mu) for mu in (1.0, 2.5)),
    *((SKEWED, mu) for mu in (1.0, 2.5)),
]
SIZES = [
    *itertools.product((20, 50, 100), (20, 50, 100)),
    *((20, 1000), (100, 1000), (1000, 20), (1000, 100), (1000, 1000)),
]
BANDS = [(0.0, 0.01), (0.0, 0.02), (0.0, 0.05), (0.0, 0.1), (0.0, 0.2), (0.0, 0.5)]
INNER = [(0.02, 0.05), (0.05, 0.1), (0.1, 0.3), (0.4, 0.9), (0.9, 1.0)]
CORRELATIONS = (0.0, 0.6, 0.9, 0.95)
STEPS = 2  # a unit is rounded to so many parts


@functools.cache
def true_area(model, mu, alpha, beta, rounded=False):
    """Compute the normalised area under the true curve."""
    base = MODELS[model]
    if rounded:
        cuts = (np.arange(400, -400, -1) - 0.5) / STEPS
        fpr, tpr = (np.r_[0.0, base.sf(cuts - shift), 1.0] for shift in (0.0, mu))
        at = np.linspace(alpha, beta, 200_001)
        return float(np.interp((at[1:] + at[:-1]) / 2, fpr, tpr).mean())
    # Squaring puts more of the places where the curve is steep.
    share = (np.arange(50_000) + 0.5) / 50_000
    fpr = alpha + (beta - alpha) * share**2
    return float((base.sf(base.isf(fpr) - mu) * 2 * share).mean())


def shift_for(model, area):
    """Find the shift that gives a true AUC."""
    return brentq(lambda mu: true_area(model, mu, 0, 1) - area, 0.0, 60.0)


def samples(seed, model, mus, m, n, draws, rho=0.0, rounded=False):
    """Draw labels and, again and again, one row of scores for each shift."""
    shifts = [int(1000 * mu) for mu in mus]
    rng = np.random.default_rng([seed, m, n, int(100 * rho), list(MODELS).index(model), *shifts])
    y = np.repeat([True, False], [m, n])
    for _ in range(draws):
        shared, own = rng.standard_normal(m + n), rng.standard_normal((len(mus), m + n))
        z = math.sqrt(rho) * shared + math.sqrt(1 - rho) * own
        if model == HEAVY:
            z /= np.sqrt(rng.chisquare(3, m + n) / 3)
        elif model == SKEWED:
            z = np.exp(z)
        z += np.multiply.outer(mus, y)
        yield y, np.round(z * STEPS) / STEPS if rounded else z


def coverage(m, n, band, model, mu, draws, rounded=False, level=0.95):
    """Give how often the interval holds the truth, its mean width, how often there is none."""
    true = true_area(model, mu, *band, rounded)
    held, widths = [], []
    for y, (score,) in samples(1, model, [mu], m, n, draws, rounded=rounded):
        found = inference.pauc_interval(y, score, *band, level)
        if not math.isnan(found.low):
            held.append(found.low <= true <= found.high)
            widths.append(found.high - found.low)
    absent = 1 - len(held) / draws
    return (np.mean(held), np.mean(widths), absent) if held else (math.nan, math.nan, absent)


def rejections(m, n, band, model, mu, rho, draws, rounded=False):
    """Give how often the test rejects a true null at 5 %, and how often it is silent."""
    p = np.array(
        [
            inference.pauc_test(y, a, b, *band).p
            for y, (a, b) in samples(2, model, [mu, mu], m, n, draws, rho, rounded)
        ]
    )
    return np.mean(p < 0.05), np.mean(np.isnan(p))


def difference_coverage(m, n, band, model, mus, rho, draws):
    """Give how often the interval of a difference holds the true one, where there is one."""
    true = np.subtract(*(true_area(model, mu, *band) for mu in mus))
    held = []
    for y, (a, b) in samples(3, model, mus, m, n, draws, rho):
        found = inference.pauc_test(y, a, b, *band)
        if not math.isnan(found.low):
            held.append(found.low <= true <= found.high)
    return np.mean(held) if held else math.nan, 1 - len(held) / draws


def three(values):
    known = np.array(values)[~np.isnan(values)]
    if not known.size:
        return "   –     –     –  "
    return f"{known.min():.3f} {known.mean():.3f} {known.max():.3f}"


def scaled(draws, m, n):
    """Make fewer of what takes long."""
    return draws if max(m, n) < 1000 else max(20, draws // 2)


def interval_table(draws, bands=BANDS, rounded=False):
    print("   m    n  band           coverage: least mean most   width  absent")
    for (m, n), band in itertools.product(SIZES, bands):
        cells = [
            coverage(m, n, band, model, mu, scaled(draws, m, n), rounded) for model, mu in SHIFTED
        ]
        held, widths, absent = zip(*cells, strict=True)
        width = np.nanmean(widths) if np.isfinite(widths).any() else math.nan
        print(
            f"{m:5}{n:5}  [{band[0]:4}, {band[1]:4}]  {three(held)}   {width:.3f}"
            f"   {np.mean(absent):.2f}",
            flush=True,
        )


def level_table(draws, bands=BANDS, rounded=False):
    names = "  ".join(f"rho {rho:4}" for rho in CORRELATIONS)
    print(f"   m    n  band           level: {names}  most of the models  silent")
    for (m, n), band in itertools.product(SIZES, bands):
        found = np.array(
            [
                [
                    rejections(m, n, band, model, mu, rho, scaled(draws, m, n), rounded)
                    for rho in CORRELATIONS
                ]
                for model, mu in SHIFTED
            ]
        )
        by_correlation = "     ".join(f"{level:.3f}" for level in found[..., 0].mean(axis=0))
        most = found[..., 0].mean(axis=1).max()
        print(
            f"{m:5}{n:5}  [{band[0]:4}, {band[1]:4}]         {by_correlation}     {most:.3f}"
            f"               {found[..., 1].mean():.2f}",
            flush=True,
        )


def difference_table(draws):
    print("   m    n  band           coverage of a difference: least mean most      silent")
    pairs = [(NORMAL, (1.5, 1.0)), (NORMAL, (2.5, 1.0)), (HEAVY, (2.5, 1.5)), (SKEWED, (2.5, 1.0))]
    for (m, n), band in itertools.product(SIZES, BANDS[2:]):
        cells = [
            difference_coverage(m, n, band, model, mus, rho, scaled(draws, m, n))
            for (model, mus), rho in itertools.product(pairs, (0.0, 0.9))
        ]
        held, silent = zip(*cells, strict=True)
        print(
            f"{m:5}{n:5}  [{band[0]:4}, {band[1]:4}]  {three(held)}   {np.mean(silent):.2f}",
            flush=True,
        )


def auc_table(draws):
    print("   m    n   AUC   coverage: least mean most   width")
    sizes = [(20, 20), (20, 100), (50, 50), (50, 500), (20, 1000), (1000, 20), (100, 100)]
    for (m, n), area in itertools.product([*sizes, (500, 500)], (0.5, 0.7, 0.9, 0.97, 0.99)):
        cells = [
            coverage(m, n, (0.0, 1.0), model, shift_for(model, area), scaled(draws, m, n))
            for model in MODELS
        ]
        held, widths, _ = zip(*cells, strict=True)
        print(f"{m:5}{n:5}  {area:.2f}   {three(held)}   {np.mean(widths):.3f}", flush=True)


def bands_table(draws):
    print("   m    n  the whole true curve in: bootstrap, Kolmogorov; one point in: pointwise")
    grid = np.unique(np.concatenate([np.linspace(0, 1, 101), np.geomspace(1e-3, 1, 60)]))
    for (m, n), (model, mu) in itertools.product(
        [(20, 20), (20, 100), (100, 20), (50, 50), (100, 100), (50, 1000)], SHIFTED[1:]
    ):
        base, held = MODELS[model], []
        true = np.r_[0.0, base.sf(base.isf(grid[1:]) - mu)]
        true[-1] = 1.0
        for y, (score,) in samples(4, model, [mu], m, n, draws):
            ranking = roc.Ranking.of(y, score)
            found = (
                inference.bootstrap_band(ranking, grid=grid, draws=300),
                inference.kolmogorov_band(ranking, grid=grid),
                inference.pointwise_band(ranking, grid=grid[grid > 0]),
            )
            # Neighbouring points of a fine grid differ by rounding at most.
            inside = [
                (band.low <= true[-len(band.low) :] + 1e-12)
                & (true[-len(band.low) :] <= band.high + 1e-12)
                for band in found
            ]
            held.append([inside[0].all(), inside[1].all(), inside[2].mean()])
        shares = " ".join(f"{share:.3f}" for share in np.mean(held, axis=0))
        print(f"{m:5}{n:5}  {model:9} {mu}   {shares}", flush=True)


def held_out(rng, y, fraction, repeats):
    """Draw hold-outs, stratified by class."""
    for _ in range(repeats):
        mask = np.zeros(len(y), dtype=bool)
        for label in (True, False):
            rows = rng.permutation(np.flatnonzero(y == label))
            mask[rows[: round(fraction * len(rows))]] = True
        yield mask


def folds(rng, y, count, repeats=1):
    """Draw the folds of some partitions, stratified by class."""
    for _ in range(repeats):
        number = np.empty(len(y), dtype=int)
        for label in (True, False):
            rows = rng.permutation(np.flatnonzero(y == label))
            number[rows] = np.arange(len(rows)) % count
        yield from (number == k for k in range(count))


SCHEMES = {
    "5 folds": (folds, 5, 1),
    "10 folds": (folds, 10, 1),
    "5 x 5 folds": (folds, 5, 5),
    "10 x 10 folds": (folds, 10, 10),
    "10 x hold-out 25 %": (held_out, 0.25, 10),
    "50 x hold-out 20 %": (held_out, 0.2, 50),
    "30 x hold-out 50 %": (held_out, 0.5, 30),
}


def discriminant(X, y):
    one, other = X[y].mean(axis=0), X[~y].mean(axis=0)
    within = np.where(y[:, None], X - one, X - other)
    return np.linalg.solve(within.T @ within / len(y) + 0.1 * np.eye(X.shape[1]), one - other)


def split_areas(scheme, signal, draws, rows=140, width=5):
    """Give the areas, (draws, 2, splits), of two discriminants equal in truth, and the share."""
    rng = np.random.default_rng(int(10 * signal))
    divide, size, repeats = SCHEMES[scheme]
    y = np.arange(rows) < 0.4 * rows
    areas = []
    for _ in range(draws):
        X = rng.standard_normal((rows, 2 * width))
        X[np.ix_(y, [0, width])] += signal
        both = [X[:, :width], X[:, width:]]
        masks = list(divide(rng, y, size, repeats))
        areas.append(
            [[roc.auc(y[t], of[t] @ discriminant(of[~t], y[~t])) for t in masks] for of in both]
        )
    return np.array(areas), float(np.mean(masks))


def splits_table(draws):
    print("scheme               signal   level   coverage of the mean")
    for scheme, signal in itertools.product(SCHEMES, (0.0, 1.0)):
        areas, share = split_areas(scheme, signal, draws)
        once = scheme in ("5 folds", "10 folds")
        p = [inference.splits_test(a, b, 1 - share, share, disjoint=once).p for a, b in areas]
        found = [inference.splits_interval(a, 0.95, share, disjoint=once) for a, _ in areas]
        truth = areas[:, 0].mean()
        held = np.mean([one.low <= truth <= one.high for one in found])
        print(f"{scheme:20} {signal:6}   {np.mean(np.array(p) < 0.05):.3f}   {held:.3f}")


TABLES = {
    "auc": auc_table,
    "interval": interval_table,
    "inner": functools.partial(interval_table, bands=INNER),
    "ties": functools.partial(interval_table, rounded=True),
    "test": level_table,
    "test-inner": functools.partial(level_table, bands=INNER),
    "test-ties": functools.partial(level_table, rounded=True),
    "difference": difference_table,
    "bands": bands_table,
    "splits": splits_table,
}


def print_tables(about, tables, draws):
    """Print the tables that the command line names, by default all of them."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--draws", type=int, default=draws)
    parser.add_argument("--tables", default=",".join(tables))
    wanted = parser.parse_args()
    for name in wanted.tables.split(","):
        start = time.perf_counter()
        print(f"\n--- {name}, {wanted.draws} samples a cell")
        tables[name](wanted.draws)
        print(f"    {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    print_tables(__doc__, TABLES, 200)
