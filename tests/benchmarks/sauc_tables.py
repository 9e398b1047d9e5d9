"""The comparison of the SAUC-SVM paper, Table 3, on our splits: SVM, AUC-SVM, SAUC-SVM.

    python -m tests.benchmarks.sauc_tables --data FOLDER --out runs.jsonl [--quick]

FOLDER holds wdbc.csv, ionosphere.csv, pima.csv and glass.csv of the UCI collection. Each of 10
random stratified halves is standardised on its training half, and the settings are chosen there by
cross-validation in 5 folds (fewer if a class has fewer rows) for the AUC; the areas are those of
the other half, times 100. What is done stands in --out, and a second call goes on from there.

The grids: lambda 10^{-3..3} and sigma 2^{-10..10} as in the paper, gamma = 1 / (2 sigma^2). The
paper does not give its C; here each method's own grid: 10^{-3..3} a row for SVM, 10^{-2..4} for
the mean pair loss. Ties go to the stronger regularisation. --quick takes every second C and
lambda and every fourth sigma.

The paper's ionosphere has g as its positive class, so has ours; whether the paper standardised is
not known. Balanced class weights are not in the paper, and all pairs only in a figure (k = INF).
The halves overlap, so that the standard errors over them are somewhat too small.
"""

import dataclasses

from aucstudio.engine import METHODS, declared_params
from aucstudio.engine.roc import auc
from tests.benchmarks import tables

# Table 3 of the paper, areas times 100: SVM, AUC-SVM and SAUC-SVM, both with k = 10.
PAPER = {
    "linear": {
        "wdbc": (94.72, 98.34, 98.68),
        "ionosphere": (83.85, 83.36, 83.97),
        "pima": (75.84, 78.92, 81.14),
        "glass1": (80.12, 66.98, 69.41),
        "glass2": (63.52, 58.69, 60.57),
        "glass3": (50.70, 49.59, 52.43),
        "glass4": (92.30, 91.40, 91.43),
        "glass5": (98.85, 93.95, 97.40),
        "glass6": (92.93, 94.56, 93.68),
    },
    "rbf": {
        "wdbc": (97.74, 97.23, 97.95),
        "ionosphere": (97.60, 95.83, 96.89),
        "pima": (81.23, 80.75, 83.61),
        "glass1": (78.98, 72.35, 75.81),
        "glass2": (84.08, 79.83, 82.60),
        "glass3": (59.28, 66.01, 68.93),
        "glass4": (91.28, 92.67, 95.88),
        "glass5": (97.65, 94.73, 96.90),
        "glass6": (95.84, 97.90, 99.18),
    },
}

VARIANTS = ("svm", "svm bal", "auc k", "sauc k", "auc all", "sauc all")

DIFFERENCES = (
    *((variant, "svm bal") for variant in VARIANTS[2:]),
    ("sauc k", "auc k"),
    ("sauc all", "auc all"),
    ("auc all", "auc k"),
    ("sauc all", "sauc k"),
)


@dataclasses.dataclass(frozen=True)
class Task:
    """One method on one half of one table; a line of the output file."""

    name: str
    half: int
    kernel: str
    variant: str
    neighbors: int
    quick: bool

    def estimator(self):
        if self.variant.startswith("svm"):
            weight = "balanced" if self.variant == "svm bal" else None
            return METHODS["svm"](kernel=self.kernel, class_weight=weight)
        method, pairs = self.variant.split()
        k = self.neighbors if pairs == "k" else None
        return METHODS[f"{method}-svm"](kernel=self.kernel, n_neighbors=k)

    def grid(self):
        """Give the values to try, the strongest regularisation first, which wins ties."""
        declared = declared_params(type(self.estimator()))
        thin = 2 if self.quick else 1
        grid = {"C": sorted(declared["C"].grid)[::thin]}
        if "structure" in declared:
            grid["structure"] = [10.0**k for k in range(3, -4, -thin)]
        if self.kernel == "rbf":
            grid["gamma"] = [0.5 * 4.0**-k for k in range(10, -11, -(4 if self.quick else 1))]
        return grid


def run(task, folder):
    """Tune and train on one half, and give the line to store."""
    (X, y), (X_test, y_test) = tables.halved(folder, task)
    search = tables.tuned(task.estimator(), task.grid(), X, y, seed=task.half, scoring="roc_auc")
    return {
        **dataclasses.asdict(task),
        "auc": auc(y_test, search.decision_function(X_test)),
        "tuning_auc": search.best_score_,
        "settings": search.best_params_,
    }


def show_areas(kernel, measured):
    shown = ("svm", "auc k", "sauc k")
    lines = {
        name: (*(by[variant].mean() for variant in VARIANTS), *PAPER[kernel][name])
        for name, by in measured.items()
    }
    tables.show(
        f"Test AUC x 100, {kernel} kernel (right: the paper's {', '.join(shown)})",
        [(*VARIANTS, *shown)],
        tables.with_mean(lines),
        6 * "{:>9}" + "  |" + 3 * "{:>8}",
    )


def wanted_tasks(wanted):
    return [
        Task(name, half, kernel, variant, wanted.neighbors, wanted.quick)
        for half in range(wanted.halves)
        for name in wanted.sets
        for kernel in wanted.kernels
        for variant in VARIANTS
    ]


def parsed():
    parser = tables.parser(__doc__.splitlines()[0], PAPER["linear"])
    parser.add_argument("--kernels", nargs="+", choices=PAPER, default=list(PAPER))
    parser.add_argument("--neighbors", type=int, default=10, help="k of the sampled pairs")
    return parser.parse_args()


def main():
    wanted = parsed()
    tasks = wanted_tasks(wanted)
    lines = tables.completed(run, tasks, wanted)
    for kernel in wanted.kernels:
        measured = {
            name: tables.by_half(
                lines, [t for t in tasks if (t.name, t.kernel) == (name, kernel)], "auc"
            )
            for name in wanted.sets
        }
        show_areas(kernel, measured)
        tables.show_differences(measured, DIFFERENCES)


if __name__ == "__main__":
    main()
