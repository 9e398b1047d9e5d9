"""How often intervals over folds, of tied scores and of reliability bars hold the truth.

    python -m tests.benchmarks.inference_folds [--draws 300] [--tables folds,groups,ties,...]

`folds`: the normalised partial AUC in [0, 0.1], mean over folds of few negatives each, by drawn
curves. `groups`: the same with rows in whole groups.
`ties`: the TPR at an FPR of scores of five levels. `equality`: level and power of the test that
subgroups have equal AUCs. `assurance`: how many fresh studies of the size that the Compare page
names find the difference significant. `bars`: reliability bars, all at once. Nominal are 95 %, 5 %
and 80 %.
"""

import itertools
import math

import numpy as np
from scipy import stats

from aucstudio.engine import inference, roc
from aucstudio.engine.reliability import reliability
from aucstudio.project.results.comparison import PairComparison
from aucstudio.project.results.forecast import growth_to_significance
from tests.benchmarks.inference_grid import (
    MODELS,
    NORMAL,
    folds,
    print_tables,
    shift_for,
    true_area,
)

BAND = (0.0, 0.1)
FOLDS = [(10, 100, 5), (20, 60, 5), (20, 100, 10), (40, 200, 5), (50, 500, 5), (100, 1000, 10)]
NULLS = [
    [(20, 80)] * 2,
    [(10, 40), (200, 800)],
    [(100, 10), (100, 400)],
    [(10, 30)] * 6,
    [(5 + 3 * k, 10 + 10 * k) for k in range(12)],
]
ALTERNATIVES = [
    [(40, 160, 0.75), (40, 160, 0.9)],
    [(20, 80, 0.7), (20, 80, 0.92)],
    [(50, 50, 0.8), (50, 50, 0.93)],
    [(30, 60, 0.95), (200, 600, 0.85)],
    [*[(25, 75, 0.9)] * 3, (25, 75, 0.7)],
]
CUTS = np.array([-0.5, 0.3, 1.0, 1.8])
ICC = 0.5


def drawn(rng, m, n, mu, model=NORMAL):
    """Draw labels and scores."""
    y = np.repeat([True, False], [m, n])
    return y, MODELS[model].rvs(m + n, random_state=rng) + mu * y


def folds_coverage(m, n, count, model, area, draws, level=0.95):
    """Return the truth, coverage and width by drawn curves, and the mean estimate."""
    mu = shift_for(model, area)
    true, found = true_area(model, mu, *BAND), []
    rng = np.random.default_rng([m, n, count, int(100 * area)])
    for _ in range(draws):
        y, score = drawn(rng, m, n, mu, model)
        rankings = [roc.Ranking.of(y[here], score[here]) for here in folds(rng, y, count)]
        one = inference.folds_interval(rankings, *BAND, level)
        found.append([one.low <= true <= one.high, one.high - one.low, one.value])
    return true, *np.nanmean(np.array(found, dtype=float), axis=0)


def folds_table(draws):
    print("  rows in folds  scores     AUC  true  mean   cover width")
    for (m, n, count), model, area in itertools.product(FOLDS, MODELS, (0.7, 0.85, 0.95)):
        true, covered, width, mean = folds_coverage(m, n, count, model, area, draws)
        print(
            f"{m:4}/{n:4} in {count:2}  {model:9} {area:.2f}  {true:.3f} {mean:.3f}"
            f"   {covered:.3f} {width:.3f}",
            flush=True,
        )


def groups_table(draws):
    print("  groups of rows, each of one class, ICC .5: groups in folds   cover width")
    mu, rng = 1.0, np.random.default_rng(7)
    true = true_area(NORMAL, mu, *BAND)
    for positives, negatives, size, count in [(50, 50, 4, 5), (60, 120, 3, 5), (30, 100, 5, 3)]:
        found = []
        for _ in range(draws):
            of = np.repeat([True, False], [positives, negatives])
            place = np.concatenate([rng.permutation(k) % count for k in (positives, negatives)])
            effect = math.sqrt(ICC) * rng.standard_normal(len(of))
            group = np.repeat(np.arange(len(of)), size)
            own = math.sqrt(1 - ICC) * rng.standard_normal(len(group))
            y, score = of[group], effect[group] + own + mu * of[group]
            rankings = [
                roc.Ranking.of(y[here], score[here], groups=group[here])
                for here in (place[group] == k for k in range(count))
            ]
            one = inference.folds_interval(rankings, *BAND)
            found.append((one.low <= true <= one.high, one.high - one.low))
        covered, width = np.mean(found, axis=0)
        print(
            f"{positives}/{negatives} of {size} in {count}   {covered:.3f} {width:.3f}", flush=True
        )


def tied_coverage(m, n, mu, fpr, draws, level=0.95):
    """Return coverage and width of the TPR at an FPR for scores of five levels."""
    base = stats.norm()
    ends = [np.r_[0, base.sf(CUTS[::-1] - shift), 1] for shift in (0.0, mu)]
    true, found = float(np.interp(fpr, *ends)), []
    rng = np.random.default_rng([m, n, int(10 * mu), int(100 * fpr)])
    for _ in range(draws):
        y, score = drawn(rng, m, n, mu)
        levels = np.searchsorted(CUTS, score).astype(float)
        band = inference.pointwise_band(roc.Ranking.of(y, levels), level, grid=[fpr])
        low, high = float(band.low[0]), float(band.high[0])
        found.append((low <= true <= high, high - low))
    return np.mean(found, axis=0)


def ties_table(draws):
    print("   m    n   mu   FPR   cover width")
    sizes = [(200, 2000), (1000, 1000), (50, 200), (20, 60)]
    for (m, n), mu, fpr in itertools.product(sizes, (1.0, 2.0), (0.02, 0.1, 0.2)):
        covered, width = tied_coverage(m, n, mu, fpr, draws)
        print(f"{m:4} {n:4}  {mu}  {fpr:.2f}   {covered:.3f} {width:.3f}", flush=True)


def equality_rejections(groups, draws, model=NORMAL, alpha=0.0, beta=1.0):
    """Return how often subgroups of (positives, negatives, AUC) are found unequal."""
    shifts = [shift_for(model, area) if area > 0.5 else 0.0 for _, _, area in groups]
    rng, p = np.random.default_rng([m for m, _, _ in groups]), []
    for _ in range(draws):
        areas = [
            inference.GroupArea.of([roc.Ranking.of(*drawn(rng, m, n, mu, model))], alpha, beta)
            for (m, n, _), mu in zip(groups, shifts, strict=True)
        ]
        p.append(inference.equality_test(areas))
    return np.mean(np.array(p) < 0.05)


def equality_table(draws):
    print("level: groups, AUC, whole curve, [0, 0.1]")
    for sizes, area in itertools.product(NULLS, (0.5, 0.75, 0.9, 0.96)):
        of = [(m, n, area) for m, n in sizes]
        shares = [
            equality_rejections(of, draws, model, *band)
            for model, band in itertools.product((NORMAL, "lognormal"), ((0.0, 1.0), BAND))
        ]
        words = " ".join(f"{share:.3f}" for share in shares)
        print(f"{sizes[0]} … {sizes[-1]}, {len(sizes)}  {area:.2f}   {words}", flush=True)
    print("power")
    for of in ALTERNATIVES:
        print(f"{of}   {equality_rejections(of, draws):.3f}", flush=True)


def assurance_shares(true, m, n, draws, rho=0.5):
    """Return how often fresh studies of the named size, and of the pilot's size, are significant.

    The pilot's difference is not significant. Sizes grow up to 50 times.
    """
    rng, shares = np.random.default_rng([m, n, int(100 * true)]), []
    mu = (shift_for(NORMAL, 0.8), shift_for(NORMAL, 0.8 + true))

    def study(m, n):
        y = np.repeat([True, False], [m, n])
        shared, own = rng.standard_normal(m + n), rng.standard_normal((2, m + n))
        scores = math.sqrt(rho) * shared + math.sqrt(1 - rho) * own
        return inference.auc_test(y, scores[1] + mu[1] * y, scores[0] + mu[0] * y)

    while len(shares) < draws:
        pilot = study(m, n)
        if not pilot.p > 0.05:
            continue
        ends = pilot.difference, pilot.low, pilot.high, pilot.p, pilot.p
        growth = growth_to_significance(PairComparison("a", "b", *ends), 1, 1)
        if growth is None:
            continue
        times = min(growth, 50.0)
        shares.append((study(round(times * m), round(times * n)).p < 0.05, growth))
    found = np.array(shares, dtype=float)
    return found[:, 0].mean(), float(np.median(found[:, 1]))


def assurance_table(draws):
    print("true difference  pilot  share significant  median growth")
    for true, (m, n) in itertools.product((0.02, 0.04, 0.06, 0.1), ((40, 80), (100, 200))):
        share, growth = assurance_shares(true, m, n, draws)
        print(f"{true:.2f}   {m}/{n}   {share:.3f}   {growth:.1f}", flush=True)


def bars_coverage(rows, share, draws, level=0.95):
    """Return how often all bars hold the mean of the true probabilities, and how many bars."""
    rng, found = np.random.default_rng([rows, int(100 * share)]), []
    for _ in range(draws):
        p = rng.beta(4 * share, 4 * (1 - share), rows)
        one = reliability(rng.random(rows) < p, p, level=level)
        found.append((((one.low <= one.mean) & (one.mean <= one.high)).all(), len(one.rows)))
    return np.mean(found, axis=0)


def bars_table(draws):
    print("rows  share  all bars hold  bars")
    for rows, share in itertools.product((100, 400, 2000), (0.05, 0.3, 0.5)):
        held, bars = bars_coverage(rows, share, draws)
        print(f"{rows:5} {share:.2f}   {held:.3f}   {bars:.0f}", flush=True)


TABLES = {
    "folds": folds_table,
    "groups": groups_table,
    "ties": ties_table,
    "equality": equality_table,
    "assurance": assurance_table,
    "bars": bars_table,
}


if __name__ == "__main__":
    print_tables(__doc__, TABLES, 300)
