"""How long each method goes without asking whether it should stop.

    python tests/benchmarks/stop_latency.py [--rows 20000] [--kernel-rows 3000] [--seconds 20]

Every method trains on ROWS x 50 (kernels on KERNEL_ROWS x 50), at most SECONDS long, and the
longest time between two calls of the callback is printed, with where it was. Methods that one
library call trains say so.
"""

import argparse
import contextlib
import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from aucstudio.engine import METHODS, Stopped, declared_params


class Clock:
    """Listens to a fit and keeps its longest silence."""

    def __init__(self, seconds):
        self.began = self.last = time.perf_counter()
        self.ends = self.began + seconds
        self.longest, self.where, self.before = 0.0, "", "start"

    def __call__(self, step):
        now = time.perf_counter()
        here = step.stage if step.iteration == 0 else "iteration"
        if now - self.last > self.longest:
            self.longest, self.where = now - self.last, f"{self.before} to {here}"
        self.last, self.before = now, here
        return now > self.ends


def data(rows):
    X, y = make_classification(2 * rows, 50, weights=[0.88], random_state=0)
    return StandardScaler().fit_transform(X[::2]), y[::2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--kernel-rows", type=int, default=3_000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    options = parser.parse_args()
    tables = {False: data(options.rows), True: data(options.kernel_rows)}
    with threadpool_limits(1):
        for key in options.methods:
            for kernel in (None, "rbf"):
                if kernel and "kernel" not in declared_params(METHODS[key]):
                    continue
                settings = {"kernel": kernel} if kernel else {}
                few = kernel is not None or key.startswith("kernel")
                listen(METHODS[key](**settings), tables[few], options.seconds)


def listen(method, table, seconds):
    clock = Clock(seconds)
    with contextlib.suppress(Stopped):
        method.fit(*table, callback=clock)
    took = time.perf_counter() - clock.began
    name = f"{method.key} {getattr(method, 'kernel', '')}".strip()
    silence = max(clock.longest, time.perf_counter() - clock.last)
    print(f"{name:24} {silence:6.3f} s of {took:6.2f} s  {clock.where}", flush=True)


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
