"""What repeats a run in a shell: one command, or an experiment file where no command says it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from aucstudio.engine import DECLARED
from aucstudio.engine.params import InvalidSetting, declared_params
from aucstudio.project.data.columns import WEIGHT_ROLES
from aucstudio.project.data.splitting.validation import (
    FILE,
    FOLDS,
    FORWARD,
    HOLD_OUT,
    LEAVE_PAIR_OUT,
    Validation,
)
from aucstudio.project.runs.experiments.experiment import DataReference, Experiment
from aucstudio.project.runs.experiments.experiment_writing import write_study
from aucstudio.project.runs.tuning import Tuning

_DIALECT = {"delimiter", "encoding", "decimal", "quote", "skip", "sheet", "missing", "strict"}
_MARKS = {"\t": "tab", "": "none"}
_FILE = "experiment.toml"


def command_line(experiment: Experiment) -> str:
    """Write what repeats an experiment in a shell, its number for number the same."""
    if experiment.members:
        told = ["aucstudio", "combine", "PROJECT", *experiment.members]
        return (
            "# Combines finished runs, named here by their ids, of the project that holds them.\n"
            f"{shlex.join([*told, *_band_words(experiment)])}"
        )
    if _fits_a_command(experiment):
        return shlex.join(_words(experiment))
    study = write_study([experiment], None)
    end = next(word for word in ("END", "END_OF_STUDY") if word not in study.splitlines())
    return (
        "# The options of a command cannot say all of this; an experiment file can.\n"
        f"cat > {_FILE} <<'{end}'\n{study}{end}\naucstudio run {_FILE}"
    )


def _fits_a_command(experiment: Experiment) -> bool:
    tuning, seed = experiment.tuning, experiment.validation.seed
    return (
        set(experiment.data.schema.chosen) <= _DIALECT
        and not experiment.data.rule.same
        and not (experiment.data.schema.absent or experiment.data.schema.same)
        and (tuning is None or tuning == Tuning(tuning.metric, seed=seed))
        and not any("\n" in word or "\0" in word for word in _words(experiment))
        and _settings_are_read_back(experiment)
    )


def _settings_are_read_back(experiment: Experiment) -> bool:
    known = declared_params(DECLARED[experiment.method])
    for name, value in experiment.params.items():
        try:
            read = known[name].parse(known[name].spell(value))
        except InvalidSetting:
            return False
        if value != known[name].default and (read != value or type(read) is not type(value)):
            return False
    return True


def _words(experiment: Experiment) -> list[str]:
    known = declared_params(DECLARED[experiment.method])
    data = experiment.data
    words = ["aucstudio", "train", data.path]
    words += _score_words(experiment) or ["--method", experiment.method]
    for name, value in experiment.params.items():
        # A range is that of the whole run unless it is given.
        usual = experiment.band if name == "fpr_range" else known[name].default
        if value != usual and not data.scores:
            words += ["--set", f"{name}={known[name].spell(value)}"]
    words += _option("label", data.label)
    for name in data.rule.together or (data.positive,):
        words += _option("positive", name)
    words += [word for option in _column_words(data) for word in option]
    words += _validation_words(experiment)
    words += _preparation_words(experiment)
    if experiment.tuning is not None:
        words += ["--tune", experiment.tuning.metric]
    return [*words, *_band_words(experiment)]


def _band_words(experiment: Experiment) -> list[str]:
    return ["--fpr-range", ",".join(repr(float(end)) for end in experiment.band)]


def _score_words(experiment: Experiment) -> list[str]:
    words = []
    for scores in experiment.data.scores:
        words += _option("score-file", scores.path) + _option("score-id", scores.key)
        words += _option("score-column", scores.column)
        direction = experiment.params["direction"]
        words += [] if direction == "found" else [f"--{direction}-is-positive"]
    return words


def _preparation_words(experiment: Experiment) -> list[str]:
    words = []
    for name, value in experiment.preparation.given().items():
        words.append(f"--{name.replace('_', '-')}")
        words += [] if value is True else [f"{value:.15g}" if name == "rare" else value]
    return words


def _column_words(data: DataReference) -> Iterator[list[str]]:
    """Say the roles that a person gave, and how the file is to be read where a person said so."""
    known = data.schema.is_complete
    for column in data.schema.columns:
        if any(column.name == given.name for given in data.scores):
            continue
        told = not column.guessed or column.role == "ignore" or not known
        if column.role in WEIGHT_ROLES:
            yield [*_option("weight", column.name), "--weight-kind", WEIGHT_ROLES[column.role]]
        elif column.role != "label" and told:
            yield _option(column.role, column.name)
        if column.parts:
            yield _option("date-parts", f"{column.name}={','.join(column.parts)}")
    for part in data.schema.chosen:
        value = getattr(data.schema.dialect, part)
        if isinstance(value, tuple):
            yield from (_option(part, text) for text in value)
        elif isinstance(value, bool):
            yield [f"--{part}"] if value else []
        else:
            yield _option(part, _MARKS.get(value, str(value)))


def _validation_words(experiment: Experiment) -> Iterable[str]:
    validation: Validation = experiment.validation
    repeats = ["--repeats", str(validation.repeats)]
    reach = [
        word
        for name in ("gap", "window")
        if (value := getattr(validation, name))
        for word in (f"--{name}", repr(float(value)))
    ]
    schemes = {
        HOLD_OUT: ["--test-size", repr(float(validation.test_size)), *repeats],
        FOLDS: ["--folds", str(validation.folds), *repeats],
        FORWARD: [*_option("time", validation.time), "--steps", str(validation.folds), *reach],
        FILE: _option("test-file", _test_path(experiment)),
        LEAVE_PAIR_OUT: ["--leave-pair-out"],
    }
    return [*schemes[validation.scheme], "--seed", str(validation.seed)]


def _test_path(experiment: Experiment) -> str:
    if experiment.test is not None:
        return experiment.test.path
    return str(Path(experiment.validation.test_file).absolute())


def _option(name: str, value: str) -> list[str]:
    # What begins with a dash would be taken for an option.
    return [f"--{name}={value}"] if value.startswith("-") else [f"--{name}", value]
