"""Training and tuning for a partial AUC against training for the AUC, and common baselines.

    python -m tests.benchmarks.pauc_tables --data FOLDER --out runs.jsonl [--quick]

FOLDER holds spambase.csv, glass.csv, credit_approval.csv and ionosphere.csv of the UCI collection.
On each of 10 random stratified halves the settings are chosen by cross-validation in 5 folds (fewer
if a class has fewer rows); areas are those of the other half, times 100, the partial one divided by
the length of its range, [0, 0.1], so that chance gives 5. What is done stands in --out, and a
second call goes on from there.

    auc/auc    SVM-AUC, linear: trained for the AUC, tuned by the AUC
    auc/pauc   the same, tuned by the partial AUC, as are all that follow
    pauc       SVM-pAUC, linear
    tight      SVM-pAUC tight, linear
    logistic   logistic regression with balanced class weights
    boosting   100 trees, 3 to 31 leaves, learning rate 0.03 or 0.1; takes gaps as they are

C runs over each method's own grid; --quick takes every second value of every grid. SVM-pAUC and
its tight form widen the range where no weights are better than any others: the last table counts
the halves where the trained model did.

Halves overlap, and six of the sets are one table with another class as positive: both make the
standard errors somewhat too small. In ionosphere g is positive; --sets "ionosphere b" has b.
"""

import dataclasses

from sklearn.metrics import make_scorer

from aucstudio.engine import METHODS, declared_params
from aucstudio.engine.roc import auc, partial_auc
from tests.benchmarks import tables

BAND = (0.0, 0.1)
SETS = ("spambase", *(f"glass{k}" for k in range(1, 7)), "credit", "ionosphere")

# Name: method, settings that stay, measure to tune by.
VARIANTS = {
    "auc/auc": ("svm-auc", {}, "auc"),
    "auc/pauc": ("svm-auc", {}, "pauc"),
    "pauc": ("svm-pauc", {"fpr_range": BAND}, "pauc"),
    "tight": ("svm-pauc-tight", {"fpr_range": BAND}, "pauc"),
    "logistic": ("logistic", {"class_weight": "balanced"}, "pauc"),
    "boosting": ("gradient-boosting", {"max_iter": 100}, "pauc"),
}
WIDENING = ("pauc", "tight")

DIFFERENCES = (
    ("auc/pauc", "auc/auc"),
    *((variant, "auc/pauc") for variant in ("pauc", "tight", "logistic", "boosting")),
    ("tight", "pauc"),
    ("tight", "logistic"),
)

# The strongest regularisation first.
BOOSTING_GRID = {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [3, 7, 15, 31]}


@dataclasses.dataclass(frozen=True)
class Task:
    """One variant on one half of one table; a line of the output file."""

    name: str
    half: int
    variant: str
    quick: bool

    def estimator(self):
        method, settings, _ = VARIANTS[self.variant]
        return METHODS[method](**settings)

    def grid(self):
        declared = declared_params(type(self.estimator()))
        grid = {"C": sorted(declared["C"].grid)} if "C" in declared else BOOSTING_GRID
        return {name: values[:: 2 if self.quick else 1] for name, values in grid.items()}


def pauc(y, scores):
    return partial_auc(y, scores, *BAND).normalized


SCORING = {
    "auc": "roc_auc",
    "pauc": make_scorer(pauc, response_method="decision_function"),
}


def run(task, folder):
    """Tune and train on one half, and give the line to store."""
    estimator = task.estimator()
    (X, y), (X_test, y_test) = tables.halved(folder, task, keep_gaps=estimator.takes_missing)
    scoring = SCORING[VARIANTS[task.variant][2]]
    search = tables.tuned(estimator, task.grid(), X, y, seed=task.half, scoring=scoring)
    scores = search.decision_function(X_test)
    return {
        **dataclasses.asdict(task),
        "auc": auc(y_test, scores),
        "pauc": pauc(y_test, scores),
        "training_pauc": pauc(y, search.best_estimator_.train_scores_),
        "tuning": search.best_score_,
        "settings": search.best_params_,
        "range_used": getattr(search.best_estimator_, "fpr_range_used_", BAND),
        "notes": search.best_estimator_.notes_,
    }


def show_means(title, measured):
    lines = {name: [by[variant].mean() for variant in VARIANTS] for name, by in measured.items()}
    tables.show(title, [VARIANTS], tables.with_mean(lines), len(VARIANTS) * "{:>10}")


def show_widened(lines, tasks_of):
    def told(name, variant):
        ends = [lines[t]["range_used"][1] for t in tasks_of[name] if t.variant == variant]
        wider = [end for end in ends if end > BAND[1]]
        return f"{len(wider)}, to {max(wider):g}" if wider else "0"

    counts = {name: [told(name, variant) for variant in WIDENING] for name in tasks_of}
    title = "Halves in which the range was widened, and the furthest end"
    tables.show(title, [WIDENING], counts, len(WIDENING) * "{:>11}")


def main():
    wanted = tables.parser(__doc__.splitlines()[0], SETS).parse_args()
    tasks = [
        Task(name, half, variant, wanted.quick)
        for half in range(wanted.halves)
        for name in wanted.sets
        for variant in VARIANTS
    ]
    lines = tables.completed(run, tasks, wanted)
    tasks_of = {name: [t for t in tasks if t.name == name] for name in wanted.sets}
    paucs, aucs = (
        {name: tables.by_half(lines, mine, measure) for name, mine in tasks_of.items()}
        for measure in ("pauc", "auc")
    )
    show_means("Test pAUC[0, 0.1] x 100", paucs)
    tables.show_differences(paucs, DIFFERENCES)
    show_means("Test AUC x 100", aucs)
    show_widened(lines, tasks_of)


if __name__ == "__main__":
    main()
