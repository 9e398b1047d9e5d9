"""What areas, their errors and bootstraps cost beside the packages that offer the same.

    python -m tests.benchmarks.statistics [--rows 1000000] [--share 0.1] [--draws 200]

Figures are seconds, the best of several, and multiples of ours; a package that is not installed
is named and left out. To have them all: pip install rapidstats polars-ds confidenceinterval
MLstatkit pyarrow.
"""

import argparse
import importlib
import time

import numpy as np
from scipy.stats import mannwhitneyu, norm
from sklearn.metrics import roc_auc_score

from aucstudio.engine import inference, roc

BOOTSTRAP_ROWS = 50_000
PAIRED_ROWS = 100_000


def seconds(call, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        found = call()
        times.append(time.perf_counter() - start)
    return min(times), found


def made(rows, share, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < share
    score = rng.standard_normal(rows) + y
    return y, score, score + rng.standard_normal(rows)


def installed(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"    {name} is not installed")
        return None


def compare(what, ours, peers, repeats):
    """Time ours and every peer; the number that each found is printed to be compared."""
    ours()  # compiles
    unit, found = seconds(ours, repeats)
    print(f"{what}\n    {'AUC Studio':<24}{unit:10.5f} s    1.0 x  found {found:.9g}", flush=True)
    for name, call in peers.items():
        taken, found = seconds(call, max(1, repeats // 2))
        ratio = taken / unit
        print(f"    {name:<24}{taken:10.5f} s {ratio:6.1f} x  found {found:.9g}", flush=True)


def areas(rows, share):
    y, score, _ = made(rows, share)
    peers = {
        "scikit-learn": lambda: roc_auc_score(y, score),
        "scipy": lambda: mannwhitneyu(score[y], score[~y]).statistic / (y.sum() * (~y).sum()),
    }
    if rapidstats := installed("rapidstats"):
        peers["rapidstats"] = lambda: rapidstats.metrics.roc_auc(y, score)
    if (polars_ds := installed("polars_ds")) and (polars := installed("polars")):
        frame = polars.DataFrame({"y": y.astype(np.uint32), "score": score})
        query = polars_ds.query_roc_auc("y", "score")
        peers["polars-ds"] = lambda: frame.select(query).item()
    compare(f"AUC of {rows:,} rows", lambda: roc.auc(y, score), peers, 6)


def delong(rows, share):
    y, score, _ = made(rows, share)
    peers = {}
    if package := installed("confidenceinterval.delong"):
        labels = y.astype(np.int64)
        peers["confidenceinterval"] = lambda: (
            float(package.delong_roc_variance(labels, score)[1]) ** 0.5
        )
    what = f"DeLong standard error, {rows:,} rows"
    compare(what, lambda: inference.delong_interval(y, score).se, peers, 6)


def paired(share):
    rng = np.random.default_rng(1)
    y = rng.random(PAIRED_ROWS) < share
    a, b = (norm.cdf(rng.standard_normal(PAIRED_ROWS) + 0.3 * y) for _ in range(2))
    peers = {}
    if package := installed("MLstatkit"):
        labels = y.astype(np.int64)
        peers["MLstatkit"] = lambda: float(package.Delong_test(labels, a, b)[0])
    what = f"z of DeLong's paired test, {PAIRED_ROWS:,} rows"
    compare(what, lambda: inference.delong_test(y, a, b).z, peers, 4)


def bootstraps(share, draws):
    y, score, other = made(BOOTSTRAP_ROWS, share)
    peers = {}
    if package := installed("rapidstats"):
        drawn = package.Bootstrap(iterations=draws, seed=0)
        peers["rapidstats"] = lambda: drawn.roc_auc(y, score)[0]
    if package := installed("confidenceinterval"):
        options = {"method": "bootstrap_percentile", "n_resamples": draws, "random_state": 0}
        labels = y.astype(np.int64)
        peers["confidenceinterval"] = lambda: package.roc_auc_score(labels, score, 0.95, **options)[
            1
        ][0]
    rows = f"{BOOTSTRAP_ROWS:,} rows"
    compare(
        f"bootstrap, {draws} draws of {rows}, lower bound",
        lambda: inference.bootstrap_interval(y, score, draws=draws).low,
        peers,
        4,
    )
    others = {
        "partial AUC to 0.1": lambda: inference.bootstrap_interval(y, score, 0, 0.1, draws=draws),
        "paired": lambda: inference.bootstrap_test(y, score, other, draws=draws),
        "band of the curve": lambda: inference.bootstrap_band(
            roc.Ranking.of(y, score), draws=draws
        ),
    }
    for what, call in others.items():
        call()
        taken = seconds(call, 3)[0]
        print(f"{what}, {rows}: {1000 * taken / draws:.3f} ms a draw", flush=True)
    for band in (inference.kolmogorov_band, inference.pointwise_band):
        taken = seconds(lambda band=band: band(roc.Ranking.of(y, score)), 3)[0]
        print(f"{band.__name__}, {rows}: {taken:.3f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--draws", type=int, default=200)
    wanted = parser.parse_args()
    areas(wanted.rows, wanted.share)
    delong(wanted.rows, wanted.share)
    paired(wanted.share)
    bootstraps(wanted.share, wanted.draws)


if __name__ == "__main__":
    main()
