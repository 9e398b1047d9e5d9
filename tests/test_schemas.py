"""The JSON that the command line prints is valid against the schemas of the guide."""

import importlib.util
import json
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

from aucstudio.cli import main
from aucstudio.commands import COMMANDS
from aucstudio.project.resources import resource_path
from tests.conftest import write_table

ROOT = Path(__file__).resolve().parent.parent
FOLDER = resource_path("schemas")
NAMES = {path.stem for path in FOLDER.glob("*.json")}


def load_documents():
    path = ROOT / "packaging" / "documents.py"
    spec = importlib.util.spec_from_file_location("documents", path)
    module = sys.modules["documents"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def schema(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def strict(part):
    """Return the schema with additional keys forbidden."""
    if isinstance(part, list):
        return [strict(each) for each in part]
    if not isinstance(part, dict):
        return part
    found = {key: strict(value) for key, value in part.items()}
    return found | ({"additionalProperties": False} if "properties" in part else {})


def require_valid(name, document):
    jsonschema.Draft202012Validator(strict(schema(name))).validate(document)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A table, a project with two runs, a calibrated model, and the output of the commands."""
    folder = tmp_path_factory.mktemp("schemas")
    table = write_table(folder / "study.csv")
    experiment = folder / "experiment.toml"
    experiment.write_text(
        '[data]\nfile = "study.csv"\n[validation]\nscheme = "folds"\nfolds = 3\n'
        '[[runs]]\nmethod = "auc-rls"\ntune = "auc"\n[[runs]]\nmethod = "rls"\n'
    )
    return folder, table, folder / "p.aucproj", folder / "m.aucmodel", experiment


def printed(capsys, *arguments):
    capsys.readouterr()
    assert main([*map(str, arguments), "--json"]) in (0, 1)
    return json.loads(capsys.readouterr().out)


def test_stored_schemas_match_the_declarations():
    documents = load_documents()
    assert set(documents.DOCUMENTS) == NAMES
    for name in NAMES:
        assert schema(name) == documents.schema(name), "run packaging/docs --schemas"
        jsonschema.Draft202012Validator.check_schema(schema(name))


def test_every_command_that_prints_json_has_a_schema(run):
    prints = {name for name in COMMANDS if "--json" in run(name, "--help")[1]}
    assert prints | {"experiment"} == NAMES


@pytest.mark.slow
def test_every_document_is_valid_against_its_schema(files, capsys):
    folder, table, project, model, experiment = files

    def check(name, *arguments):
        document = printed(capsys, name, *arguments)
        require_valid(name, document)
        return document

    made = check(
        "train", table, "--method", "auc-rls", "--tune", "auc", "--folds", "3",
        "--project", project, "--save-model", model, "--calibrate", "platt",
    )  # fmt: skip
    assert made["calibration"]["rows"] > 0
    check("train", table, "--method", "svm-pauc", "--folds", "3", "--project", project)
    check("run", experiment, "--project", project)
    runs = [run["id"] for run in check("compare", project, "--by", "town")["runs"]]
    check("combine", project, *runs[:2])
    check("verify", project, runs[0])
    check("score", model, table)
    check("score", model, table, "-o", folder / "scores.csv")
    check("explain", model, table, "--row", "3")
    check("inspect", table)
    check("methods")
    check("check", project)
    project.write_bytes(project.read_bytes()[:-4000])
    check("check", project, "--repair")
    require_valid("experiment", tomllib.loads(experiment.read_text()))


@pytest.mark.slow
def test_tournament_document_is_valid_against_its_schema(files, capsys):
    document = printed(capsys, "best", files[1], "--minutes", "0.1", "--fpr-range", "0,0.2")
    require_valid("best", document)
    assert document["leaderboard"]


@pytest.mark.parametrize(
    "path", sorted(resource_path("studies").glob("*.toml")), ids=lambda path: path.stem
)
def test_example_studies_are_valid_against_the_schema(path):
    require_valid("experiment", tomllib.loads(path.read_text(encoding="utf-8")))
