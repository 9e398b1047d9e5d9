"""The structural methods for a range of FPR, in passes over the data; a step over its width.

    python tests/benchmarks/partial_auc.py [--rows 100000] [--out oracle.png]

A pass is ``u = X @ w; X.T @ u`` on the same array with one BLAS thread; times are of the
processor. The first table is the time to a relative gap of 1e-3 over that of 100 passes: at most
3. The second is the time of one search for the most violated ordering, for ranges [0, beta] at
scores of a half-trained direction: Figure 4a of the SVM-pAUC paper shows that it does not depend
on beta. --out draws it.
"""

import argparse
import os
import time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from aucstudio.engine.fit import Context
from aucstudio.engine.losses.pairs import PairHinge
from aucstudio.engine.losses.structural import StructuralRisk, TightRisk
from aucstudio.engine.methods.structural.svm_pauc import SVMpAUC
from aucstudio.engine.methods.structural.svm_pauc_tight import SVMpAUCTight
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.solvers.cutting_plane import minimise

BETAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
METHODS = [
    (SVMpAUC, {}),
    (SVMpAUCTight, {}),
    (SVMpAUCTight, {"surrogate": "dc"}),
]


def seconds(call, repeats):
    times = []
    for _ in range(repeats):
        began = time.process_time()
        call()
        times.append(time.process_time() - began)
    return np.median(times)


def fits(X, y, unit):
    print(f"{'method':<20}{'range':<14}{'C':>5}{'it.':>6}{'s':>8}{'/100 passes':>13}  used")
    for method, settings in METHODS:
        for fpr_range in ((0.0, 0.1), (0.02, 0.05)):
            for C in (1.0, 100.0):
                if settings and fpr_range[0] == 0:
                    continue
                model = method(C=C, fpr_range=fpr_range, tol=1e-3, **settings)
                began = time.process_time()
                done = model._fit(X, y, Context(Monitor()))
                took = time.process_time() - began
                name = " ".join([method.key, *settings.values()])
                print(
                    f"{name:<20}{fpr_range!s:<14}{C:>5g}{done.n_iter:>6}{took:>8.2f}"
                    f"{took / (100 * unit):>13.2f}  {model.fpr_range_used_}",
                    flush=True,
                )


def oracle(X, y, unit):
    w = minimise(X, PairHinge(y), 1.0, tol=1e-2, monitor=Monitor()).weights
    u = X @ w
    print(f"\n{'beta':>6}{'structural ms':>16}{'tight ms':>12}   (a pass: {1e3 * unit:.1f} ms)")
    found = []
    for beta in BETAS:
        risks = StructuralRisk(y, 0.0, beta), TightRisk(y, 0.0, beta)
        found.append([1e3 * seconds(lambda risk=risk: risk(u), 15) for risk in risks])
        print(f"{beta:>6g}{found[-1][0]:>16.2f}{found[-1][1]:>12.2f}", flush=True)
    return np.array(found)


def draw(found, file):
    import pyqtgraph as pg

    app = pg.mkQApp()
    plot = pg.PlotWidget(labels={"left": "ms", "bottom": "beta"}, background="w")
    plot.addLegend(labelTextColor="k")
    for times, name, colour in zip(found.T, ("structural", "tight"), "br", strict=True):
        plot.plot(BETAS, times, pen=colour, symbol="o", symbolBrush=colour, name=name)
    plot.setYRange(0, found.max())
    plot.resize(640, 400)
    plot.show()
    app.processEvents()
    plot.grab().save(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--out")
    wanted = parser.parse_args()
    X, y = make_classification(wanted.rows, 50, weights=[0.9], random_state=0)
    X, y = StandardScaler().fit_transform(X), y == 1
    w = np.ones(50)
    with threadpool_limits(1):
        unit = seconds(lambda: X.T @ (X @ w), 30)
        print(f"{wanted.rows} x 50, {y.sum()} positives; one pass {1e3 * unit:.2f} ms")
        fits(X, y, unit)
        found = oracle(X, y, unit)
    if wanted.out:
        draw(found, wanted.out)


if __name__ == "__main__":
    main()
