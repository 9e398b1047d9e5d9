"""Cost estimates are positive, grow with the rows and cover the arrays known in advance."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from aucstudio.engine import METHODS, InvalidSetting
from aucstudio.engine.cost import Work, cost_of, speed
from aucstudio.engine.declared import Declared
from aucstudio.engine.methods.least_squares import AUCRLS
from aucstudio.engine.methods.nbauc import NBAUC
from aucstudio.engine.methods.pair_svm import AUCSVM
from aucstudio.notices.words import bytes_words, elapsed_words, rough_words
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.runs import estimate as experiments
from aucstudio.project.runs.estimate import check_size
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment


def method_variants():
    """Yield each method with its default settings and with each kernel that it supports."""
    for key, method in METHODS.items():
        yield pytest.param(method(), id=key)
        for kernel in ("linear", "rbf"):
            if hasattr(method(), "kernel") and method().kernel != kernel:
                yield pytest.param(method(kernel=kernel), id=f"{key}-{kernel}")
        if hasattr(method(), "n_neighbors"):
            yield pytest.param(method(n_neighbors=5), id=f"{key}-neighbours")


@pytest.mark.parametrize("method", list(method_variants()))
def test_cost_is_finite_and_grows_with_the_rows(method):
    """Use sizes within which the solver stays the same."""
    costs = [method.estimate(rows, 3 * rows, 5) for rows in (10, 40, 160, 640)]
    assert all(0 < cost.bytes < math.inf and 0 < cost.seconds < math.inf for cost in costs)
    for smaller, larger in itertools.pairwise(costs):
        assert larger.bytes > smaller.bytes
        assert larger.seconds > smaller.seconds


@pytest.mark.parametrize("method", list(method_variants()))
@pytest.mark.parametrize("size", [(1, 1, 1), (1, 9, 200), (3, 1, 0)])
def test_smallest_and_widest_tables_have_a_cost(method, size):
    cost = method.estimate(*size)
    assert 0 < cost.bytes < 100e6
    assert cost.seconds > 0


def test_time_estimate_does_not_overflow_on_a_huge_table():
    for method in METHODS.values():
        cost = method().estimate(10**7, 10**8, 1_000)
        assert 1e9 < cost.bytes < math.inf or method.key in ("auc-rls", "rls")
        assert cost.seconds > 1


def test_every_method_estimates_its_time_and_offers_advice():
    for method in METHODS.values():
        cost = method().estimate(1_000, 1_000, 10)
        assert cost.seconds is not None
        assert cost.advice
        assert cost.setting == "method" or hasattr(method(), cost.setting)


def test_method_without_an_estimate_is_assumed_to_copy_the_table():
    cost = Declared.estimate(AUCRLS(), 100, 900, 50)
    assert cost.bytes > 8 * 1_000 * 50
    assert cost.seconds is None


def test_estimate_covers_the_known_arrays():
    assert AUCRLS(kernel="rbf").estimate(1_000, 2_000, 9).bytes > 8 * 3_000**2
    assert AUCSVM().estimate(1_000, 2_000, 9).bytes > 8 * 8 * 1_000 * 2_000
    assert NBAUC(n_landmarks=500).estimate(10_000, 10_000, 9).bytes > 4 * 20_000 * 500
    assert NBAUC(n_landmarks=500, tol=1e-7).estimate(10_000, 10_000, 9).bytes > 8 * 20_000 * 500


def test_advised_settings_lower_the_cost():
    size = (2_000, 2_000, 20)
    whole = AUCSVM(kernel="rbf").estimate(*size)
    assert AUCSVM(kernel="rbf", n_neighbors=10).estimate(*size).bytes < whole.bytes / 2
    assert NBAUC(n_landmarks=100).estimate(*size).bytes < whole.bytes / 10
    assert "float32" not in NBAUC(tol=1e-7).estimate(*size).advice  # small features are double
    size = (20_000, 20_000, 20)
    fine = NBAUC(tol=1e-7).estimate(*size)
    assert "float32" in fine.advice
    assert NBAUC().estimate(*size).bytes < fine.bytes


def test_work_can_be_added_and_multiplied():
    work = (Work(products=1.0, steps=2.0) + Work(numbers=3.0)).times(2)
    assert dataclasses.astuple(work) == (2.0, 6.0, 0.0, 4.0)
    assert cost_of(10, 0.0, Work()).seconds < cost_of(10, 0.0, Work(products=1e9)).seconds


def test_machine_speed_is_measured_once():
    assert speed() is speed()
    assert all(value > 0 for value in dataclasses.astuple(speed()))


@pytest.fixture
def planned(tmp_path):
    """Return a function that plans a method on a small table and returns the table too."""
    path = tmp_path / "small.csv"
    numbers = np.random.default_rng(0).normal(size=40)
    lines = [f"{value},{'ab'[k % 2]}" for k, value in enumerate(numbers)]
    path.write_text("x,kind\n" + "\n".join(lines) + "\n")
    table = read_table(path, label="kind", positive="b")

    def plan(key, **settings):
        reference = DataReference.to_table(table)
        return plan_experiment(reference, key, settings, Validation()), table

    return plan


def test_fit_beyond_memory_is_refused_with_advice(planned, monkeypatch):
    kernel, table = planned("auc-rls", kernel="rbf")
    check_size(kernel, table)
    monkeypatch.setattr(experiments, "memory_limit", lambda: 1.1e6)
    with pytest.raises(
        ValueError, match=r"machine has 1 MB: take the linear kernel, NBAUC"
    ) as refused:
        check_size(kernel, table)
    assert refused.value.setting == "kernel"
    features, table = planned("nbauc")
    with pytest.raises(ValueError, match="lower n_landmarks"):
        check_size(features, table)


@pytest.mark.parametrize("written", ["12000000\n", "max\n", None])
def test_memory_limit_of_a_container_is_respected(monkeypatch, tmp_path, written):
    monkeypatch.setattr(experiments, "CONTAINER_LIMIT_FILES", ())
    whole = experiments.memory_limit()
    assert whole > 1e8
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(experiments, "CONTAINER_LIMIT_FILES", (limit,))
    if written is not None:
        limit.write_text(written)
    assert experiments.memory_limit() == (12e6 if written == "12000000\n" else whole)


def test_memory_is_known_without_sysconf(monkeypatch):
    monkeypatch.delattr("os.sysconf", raising=False)
    assert 1e8 < experiments.memory_limit() < math.inf


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0021, "2 ms"),
        (0.052, "50 ms"),
        (0.43, "0.4 s"),
        (3.27, "3.3 s"),
        (42, "42 s"),
        (600, "10 min"),
        (7_300, "2 h"),
    ],
)
def test_rough_times_have_few_digits(seconds, words):
    assert rough_words(seconds) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (4e4, "1 MB"),
        (6.2e6, "6 MB"),
        (1.24e7, "12 MB"),
        (3.46e8, "350 MB"),
        (1.33e9, "1.3 GB"),
        (4.1e10, "41 GB"),
    ],
)
def test_amounts_of_memory_have_few_digits(count, words):
    assert bytes_words(count) == words


def test_cost_is_formatted_in_words():
    cost = AUCRLS().estimate(10, 20, 3)
    timed = dataclasses.replace(cost, bytes=12e6, seconds=0.4)
    assert timed.words == "about 0.4 s and 12 MB per fit"
    assert dataclasses.replace(timed, seconds=None).words == "about 12 MB per fit"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "0 s"),
        (2.11, "2 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (125, "2 min 5 s"),
        (3_600, "1 h"),
        (7_325, "2 h 2 min"),
    ],
)
def test_elapsed_time_is_formatted_in_whole_seconds(seconds, words):
    assert elapsed_words(seconds) == words


@pytest.mark.parametrize(
    ("key", "settings", "rows", "features"),
    [
        ("auc-rls", {"kernel": "rbf"}, 20_000, 2),
        ("rls", {}, 20_000, 30_000),
        ("svm-2norm", {"kernel": "poly"}, 20_000, 2),
        ("asvm", {"kernel": "rbf"}, 3_000, 2),
        ("asvm", {}, 3_000, 4_000),
        ("kernel-rank-svm", {}, 10_000, 2),
        ("scaled-rank-svm", {}, 10_000, 2),
    ],
)
def test_kernel_matrix_beyond_memory_is_refused_early(key, settings, rows, features):
    method = METHODS[key](**settings)
    method.check_size(rows - 9, 9, features)
    with pytest.raises(InvalidSetting, match=f"{rows + 1:,}") as refused:
        method.check_size(rows - 8, 9, features)
    assert refused.value.setting == ("method" if key == "scaled-rank-svm" else "kernel")
