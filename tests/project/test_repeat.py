"""The command that repeats a run recreates the same experiment."""

import os
import shlex
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aucstudio.engine import METHODS
from aucstudio.engine.params import declared_params
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.experiment_file import command_line, read_study
from aucstudio.project.runs.planning import plan_experiment, read_test_table, scored_by
from aucstudio.project.runs.tuning import Tuning
from tests.project.test_schema import HEADER, training_rows, write_csv

NAMES = [*HEADER[:5], "-word", *HEADER[6:]]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("it's a folder")
    rows = training_rows(True)
    return (
        write_csv(folder / "-train.csv", NAMES, rows),
        write_csv(folder / "test;1.csv", NAMES, rows[::-1], delimiter="|"),
    )


@pytest.fixture(scope="module")
def replanned(tmp_path_factory):
    """Return a function that plans the experiment of a command."""
    path = tmp_path_factory.mktemp("again") / "experiment.toml"

    def plan(command):
        first, _, rest = command.partition("\n")
        assert first == "cat > experiment.toml <<'END'"
        text, _, last = rest.rpartition("END\n")
        assert last == "aucstudio run experiment.toml"
        path.write_text(text, encoding="utf-8")
        (experiment,) = read_study(path).experiments
        return experiment

    return plan


VALIDATIONS = st.builds(
    Validation,
    scheme=st.sampled_from(["holdout", "folds", "file"]),
    test_size=st.floats(0.2, 0.8),
    folds=st.integers(2, 6),
    repeats=st.integers(1, 3),
    seed=st.integers(0, 2**31),
    test_file=st.just("unread"),
)
SETTINGS = st.one_of(
    st.tuples(st.just("auc-rls"), st.fixed_dictionaries({"regularization": st.floats(1e-9, 1e9)})),
    st.tuples(
        st.just("auc-svm"),
        st.fixed_dictionaries(
            {"C": st.floats(1e-6, 1e6) | st.integers(1, 9), "n_neighbors": st.none()},
            optional={"kernel": st.sampled_from(["linear", "rbf"]), "gamma": st.floats(1e-6, 10)},
        ),
    ),
    st.tuples(st.just("svm-pauc"), st.just({"fpr_range": (0.01, 0.123456789012)})),
    st.tuples(st.just("svm-pauc"), st.just({})),
)
ROLES = st.dictionaries(
    st.sampled_from(["code", "flag", "when", "-word", "price"]),
    st.sampled_from(["ignore", "category"]),
    max_size=3,
)


@pytest.mark.slow
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    validation=VALIDATIONS,
    chosen=SETTINGS,
    roles=ROLES,
    band=st.tuples(st.floats(0, 0.4), st.floats(0.5, 1)),
    tune=st.none() | st.sampled_from(["auc", "pauc"]),
    dialect=st.sampled_from(
        [
            {},
            {"decimal": ","},
            {"skip": 0, "quote": '"', "delimiter": ";"},
            {"missing": ("-9",), "strict": True},
        ]
    ),
    positive=st.sampled_from(["yes", "no"]),
)
def test_commands_recreate_the_experiment(
    files, replanned, validation, chosen, roles, band, tune, dialect, positive
):
    train, test = files
    method, params = chosen
    validation = Validation(**{**validation.as_json(), "test_file": str(test)})
    table = read_table(train, label="outcome", positive=positive, dialect=dialect)
    data = DataReference.to_table(table.with_roles(roles=roles))
    tuning = None if tune is None else Tuning(tune, seed=validation.seed)
    experiment = plan_experiment(data, method, params, validation, band, tuning)
    if validation.scheme == "file":
        experiment = experiment.tested_on(read_test_table(experiment))
    assert replanned(command_line(experiment)).id == experiment.id


@pytest.mark.parametrize("method", METHODS)
def test_commands_repeat_every_setting_of_every_method(files, replanned, method):
    table = read_table(files[0], label="outcome", positive="yes")
    values = {}
    for name, declared in declared_params(METHODS[method]).items():
        if declared.kind == "int":
            values[name] = int(declared.low or 1) + 3
        elif declared.kind == "float" and not declared.high:
            values[name] = 1 / 3
        elif declared.kind == "bool":
            values[name] = not declared.default
        elif declared.kind == "choice":
            values[name] = list(declared.choices)[-1]
    if METHODS[method].as_given:
        table = scored_by(table, "price")
    data = DataReference.to_table(table)
    experiment = plan_experiment(data, method, values, Validation(scheme="folds", repeats=2))
    assert replanned(command_line(experiment)).id == experiment.id


@pytest.mark.parametrize(
    ("dialect", "tuning"), [({"header": True}, None), ({}, Tuning("auc", folds=3, seed=7))]
)
def test_commands_repeat_dialect_tuning_and_groups(files, replanned, dialect, tuning):
    table = read_table(files[0], label="outcome", positive="yes", dialect=dialect)
    data = DataReference.to_table(table.with_roles(roles={"code": "group"}))
    experiment = plan_experiment(data, "auc-rls", {}, Validation(seed=3, folds=9), tuning=tuning)
    assert replanned(command_line(experiment)).id == experiment.id


@pytest.mark.slow
def test_command_recreates_the_run_in_a_shell(files, tmp_path):
    train, test = files
    table = read_table(train, label="outcome", positive="yes")
    data = DataReference.to_table(table.with_roles(roles={"when": "category", "flag": "ignore"}))
    validation = Validation(scheme="file", test_file=str(test))
    experiment = plan_experiment(data, "auc-rls", {"regularization": 1 / 3}, validation)
    experiment = experiment.tested_on(read_test_table(experiment))
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    program = bin_folder / "aucstudio"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m aucstudio "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-c", command_line(experiment) + " --json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env=environment,
    )
    assert f'"id": "{experiment.id}"' in done.stdout
