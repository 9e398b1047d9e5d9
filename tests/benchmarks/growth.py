"""How the time of a fit grows with the rows.

    python tests/benchmarks/growth.py [--largest 320000] [--out growth.png]

Batch methods to their tolerance, stochastic ones for one epoch; 50 features, one in eight rows
positive. Each is fitted by t = a N^b on the larger half of the sizes: sorting methods should show
b a little above 1 (N log N has b = 1.08 between 40,000 and 320,000 rows), passes over the data and
epochs b = 1. One BLAS thread, least of three, processor time. --out draws it.
"""

import argparse
import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from aucstudio.engine import METHODS

LANDMARKS = {"n_landmarks": 100}
CASES = {
    "auc-rls": {},
    "rank-svm": {"C": 100.0},
    "svm-pauc": {"tol": 1e-3},
    "rankboost": {"n_rounds": 20},
    "nbauc": LANDMARKS,
    "rf-auc": {"n_components": 100},
    "nsauc": LANDMARKS | {"n_epochs": 1},
    "nsvmsgd2": LANDMARKS | {"n_epochs": 1},
    "noam": LANDMARKS | {"n_epochs": 1},
    "nsolam": LANDMARKS | {"n_epochs": 1},
}


def least(call, repeats=3):
    times = []
    for _ in range(repeats):
        began = time.process_time()
        call()
        times.append(time.process_time() - began)
    return min(times)


def made(rows):
    X, y = make_classification(
        rows, 50, n_informative=20, weights=[0.875], class_sep=0.7, random_state=0
    )
    return StandardScaler().fit_transform(X), y


def grown(method, settings, sizes):
    """Give the seconds of a fit at each size."""
    fit = METHODS[method](**settings).fit
    fit(*made(500))  # compiles
    return np.array([least(lambda X=X, y=y: fit(X, y)) for X, y in map(made, sizes)])


def exponent(sizes, seconds):
    half = len(sizes) // 2
    slope, _ = np.polyfit(np.log(sizes[half:]), np.log(seconds[half:]), 1)
    return slope


def draw(sizes, found, file):
    import pyqtgraph as pg

    app = pg.mkQApp()
    plot = pg.PlotWidget(labels={"left": "seconds", "bottom": "rows"}, background="w")
    plot.setLogMode(True, True)
    plot.addLegend(labelTextColor="k")
    for k, (name, seconds) in enumerate(found.items()):
        colour = pg.intColor(k, len(found), maxValue=200)
        title = f"{name}: N^{exponent(sizes, seconds):.2f}"
        plot.plot(sizes, seconds, pen=colour, symbol="o", symbolBrush=colour, name=title)
    plot.resize(800, 600)
    plot.show()
    app.processEvents()
    plot.grab().save(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=320_000)
    parser.add_argument("--out")
    wanted = parser.parse_args()
    sizes = np.array([wanted.largest // 2**k for k in range(6)][::-1])
    print("method      " + "".join(f"{size:>10,}" for size in sizes) + "   exponent")
    found = {}
    with threadpool_limits(1):
        for method, settings in CASES.items():
            found[method] = grown(method, settings, sizes)
            times = "".join(f"{seconds:>10.3f}" for seconds in found[method])
            print(f"{method:12}{times}   {exponent(sizes, found[method]):.2f}", flush=True)
    if wanted.out:
        draw(sizes, found, wanted.out)


if __name__ == "__main__":
    main()
