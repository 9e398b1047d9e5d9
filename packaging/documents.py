"""The layout of every JSON document of the command line, and of the experiment file.

``packaging/docs --schemas`` writes them as JSON Schema. What a command prints from a declaration of
the program is taken from there; a number that cannot be computed is null.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from aucstudio.engine.ensembles.combined import MemberShare
from aucstudio.engine.ensembles.selection import Criterion
from aucstudio.engine.reliability import Decomposed
from aucstudio.engine.verification.verified import Verified
from aucstudio.project.data.finding import Finding
from aucstudio.project.data.preparing.scales import FarCells
from aucstudio.project.data.text.contents import Rejected
from aucstudio.project.data.validation import Validation
from aucstudio.project.runs.experiment_keys import ExperimentDocument
from aucstudio.project.store.check import Repaired
from aucstudio.project.tournament.standings import OperatingPoint

Value = bool | int | float | str | list[Any] | None
Settings = dict[str, Value]


class Notice(TypedDict):
    """A fact about a result."""

    code: str
    severity: Literal["info", "warning", "error"]
    text: str
    values: dict[str, Any]


# ------------------------------------------------------------- train, run, combine


class Data(TypedDict):
    """The table."""

    file: str
    rows: int
    features: int
    label: str | None
    positive: str | None
    positives: int
    unlabelled: int
    rejected_rows: int
    sha256: str


class Area(TypedDict):
    """A figure with its 95 % interval; the reason says why there is no interval."""

    value: float | None
    low: float | None
    high: float | None
    reason: str
    per_split: list[float]


class PartialArea(TypedDict):
    """A partial area with its 95 % interval, which is that of the normalised one."""

    range: tuple[float, float]
    raw: float | None
    normalized: float | None
    mcclish: float | None
    negatives: int | float
    low: float | None
    high: float | None
    reason: str
    per_split: list[float]
    notices: list[Notice]


class Search(TypedDict):
    """A tuning within the training rows of one split: an area by candidate and inner fold."""

    metric: str
    candidates: list[Settings]
    areas: list[list[float | None]]
    problems: dict[str, str]
    seconds: float


class Tuning(TypedDict):
    """How settings were tuned, and what was chosen, by split."""

    metric: str
    folds: int
    seed: int
    chosen: list[Settings]
    searches: list[Search]


class Run(TypedDict):
    """A run; objective, gap and test_groups have one value for each split."""

    name: NotRequired[str]
    id: str
    method: str
    params: Settings
    status: str
    seed: int
    validation: Validation
    weight: NotRequired[str]
    weight_kind: NotRequired[str]
    test_groups: NotRequired[list[int]]
    auc: Area
    pauc: PartialArea
    measures: dict[str, float | None]
    train_auc: float | None
    objective: list[float | None]
    gap: list[float | None]
    converged: bool
    fit_seconds: float | None
    n_train: int
    n_test: int
    model: str | None
    tuning: NotRequired[Tuning]
    members: NotRequired[list[str]]
    notes: NotRequired[list[str]]
    notices: NotRequired[list[Notice]]
    warnings: NotRequired[list[str]]
    error: NotRequired[str]
    unsaved: NotRequired[str]


class Calibration(TypedDict):
    """How well the probabilities of a map hold on rows that it did not see."""

    map: str
    rows: int
    brier: Decomposed
    log: Decomposed
    error: float | None
    error_reason: str


class Results(TypedDict):
    """What train, run and combine print."""

    data: Data
    runs: list[Run]
    calibration: NotRequired[Calibration]


# ----------------------------------------------------------------------------- best


class Behind(TypedDict):
    """The best entry minus this one on the held-out rows; p is corrected by Holm."""

    difference: float
    low: float | None
    high: float | None
    p: float | None
    reason: str
    significant: bool


class Entry(TypedDict):
    """One line of the leaderboard."""

    method: str
    settings: str
    run: str | None
    inner: float | None
    inner_low: float | None
    inner_high: float | None
    why: str
    held_out: float | None
    optimism: float | None
    seconds: float
    behind: Behind | None


class Choice(TypedDict):
    """The lead of the best single method over the combination, and its standard error."""

    lead: float
    error: float
    errors: float


class BestModel(TypedDict):
    """The model that is recommended."""

    method: str
    settings: str
    run: str
    threshold: OperatingPoint
    members: list[MemberShare]
    simpler: str | None
    simpler_cost: float | None
    trained_on: str
    model: str | None


class Best(TypedDict):
    """What best prints."""

    data: Data
    runs: list[Run]
    fpr_range: tuple[float, float] | None
    criterion: Criterion
    choice: Choice | None
    ended: Literal["done", "time", "stopped"]
    seconds: float
    fits: int
    leaderboard: list[Entry]
    best: BestModel | None
    not_begun: list[str]
    failed: list[str]
    notes: list[str]
    says: list[str]
    unsaved: NotRequired[str]


# -------------------------------------------------------------------------- compare


class Pair(TypedDict):
    """Run a minus run b; the corrected p is named after its correction."""

    a: str
    b: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: NotRequired[float | None]
    p_bonferroni: NotRequired[float | None]
    refused: str
    reason: str
    alike: bool
    notices: list[Notice]


class Pairs(TypedDict):
    """Every pair of runs, by measure."""

    auc: list[Pair]
    pauc: list[Pair]
    tpr: list[Pair]


class Level(TypedDict):
    """The held-out rows of one level of a column."""

    level: str
    positives: int
    negatives: int
    auc: Area
    pauc: Area
    threshold: float | None
    tpr: Area
    fpr: Area
    notices: list[Notice]


class Subgroups(TypedDict):
    """A run by the levels of a column, and the tests that all levels are equal."""

    name: str
    column: str
    groups: list[Level]
    p_auc: float | None
    p_pauc: float | None


class Comparison(TypedDict):
    """What compare prints."""

    fpr_range: tuple[float, float]
    runs: list[Run]
    pairs: Pairs
    subgroups: NotRequired[list[Subgroups]]


# ------------------------------------------------------------ score, explain, verify


class Unseen(TypedDict):
    """Levels that the model does not know: rows that have one, and some of the levels."""

    count: int
    values: list[str]


class NonNumeric(TypedDict):
    """Cells that are not numbers; they count as missing. The first of them, and its line."""

    count: int
    text: str
    line: int | None


class ScoredColumns(TypedDict):
    """Columns of the model that the file has, of the file alone, and of the model alone."""

    matched: list[str]
    ignored: list[str]
    missing: list[str]


class ScoredArea(TypedDict):
    """An AUC with its 95 % interval."""

    value: float
    low: float | None
    high: float | None


class Scoring(TypedDict):
    """What score prints; the scores themselves are there if no file was given for them."""

    model: str
    method: str
    file: str | None
    threshold: float | None
    table: str
    rows: int
    scored: int
    columns: ScoredColumns
    unseen: dict[str, Unseen]
    gaps: dict[str, int]
    unreadable: dict[str, NonNumeric]
    far: list[FarCells]
    left_out: list[Rejected]
    auc: ScoredArea | None
    without_auc: str
    weight: str | None
    allowed: dict[str, list[str]]
    row: NotRequired[list[int]]
    id: NotRequired[list[str]]
    ids: NotRequired[dict[str, list[str]]]
    scores: NotRequired[list[float]]
    predicted: NotRequired[list[str]]
    probabilities: NotRequired[list[float]]


class Contribution(TypedDict):
    """What a column adds to the score of the row."""

    column: str
    value: str
    usual: str
    contribution: float
    standard_error: float


class Explanation(TypedDict):
    """What explain prints."""

    model: str
    file: str
    compared_with: str
    output: str | None
    row: int
    score: float
    mean: float
    exact: bool
    complete: bool
    draws: int
    background: int
    of_rows: int
    by_weight: bool
    contributions: list[Contribution]


class VerifiedRun(TypedDict):
    """One split of a run, solved again."""

    name: str
    run: str
    split: int
    splits: int
    created: str
    versions: dict[str, str]
    found: Verified
    agrees: bool
    verdict: str


class Verification(TypedDict):
    """What verify prints."""

    project: str
    agrees: bool
    runs: list[VerifiedRun]


# ----------------------------------------------------------- inspect, methods, check


class Column(TypedDict):
    """A column; range and parts are there for dates, auc_by says what was ranked."""

    name: str
    role: str
    kind: str
    guessed: bool
    reason: str
    missing: int
    distinct: int
    auc: float | None
    auc_by: Literal["value", "share", "presence"] | None
    range: NotRequired[list[str]]
    parts: NotRequired[list[str]]


class Inspection(TypedDict):
    """What inspect prints; the dialect is null for formats that have none."""

    file: str
    format: str
    sheet: NotRequired[str | None]
    sheets: NotRequired[list[str]]
    encoding: str | None
    delimiter: str | None
    decimal: str | None
    header: bool | None
    rows: int
    rejected: list[Rejected]
    rejected_rows: int
    columns: list[Column]
    label: str | None
    classes: dict[str, int]
    positive: str | None
    unlabelled: int
    notes: list[str]
    notices: list[Notice]
    findings: list[Finding]


class SettingChoice(TypedDict):
    """A value that a setting can take."""

    value: Value
    help: str


class Setting(TypedDict):
    """A setting of a method; it matters only beside the values in ``when``."""

    name: str
    kind: str
    default: Value
    label: str
    symbol: str
    unit: str
    help: str
    low: float | None
    high: float | None
    low_open: bool
    log: bool
    choices: list[SettingChoice]
    words: list[str]
    multiples_of: str | None
    none: str | None
    when: dict[str, list[Value]]
    grid: list[Value]


class Method(TypedDict):
    """A method and its settings."""

    id: str
    title: str
    in_words: str
    family: str
    source: str
    summary: str
    trains_for: str
    scorer: str
    takes_missing: bool
    weights: str
    weights_note: str
    use_when: str
    parameters: list[Setting]


class Checked(TypedDict):
    """What check prints."""

    whole: bool
    file: str
    kind: str
    problems: list[str]
    runs: int | None
    repaired: Repaired | None


DOCUMENTS: dict[str, Any] = {
    "train": Results,
    "run": Results,
    "combine": Results,
    "best": Best,
    "compare": Comparison,
    "score": Scoring,
    "explain": Explanation,
    "verify": Verification,
    "inspect": Inspection,
    "methods": list[Method],
    "check": Checked,
    "experiment": ExperimentDocument,
}
"""By command, and the experiment file."""


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a document."""
    import msgspec

    found = msgspec.json.schema(DOCUMENTS[name])
    title = "AUC Studio: experiment file" if name == "experiment" else f"aucstudio {name} --json"
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, "title": title} | {
        key: _first_paragraphs(value) for key, value in found.items()
    }


def _first_paragraphs(part: Any) -> Any:
    """Shorten each description to what a reader of the document needs."""
    if isinstance(part, list | tuple):
        return [_first_paragraphs(each) for each in part]
    if not isinstance(part, dict):
        return part
    short = {key: _first_paragraphs(value) for key, value in part.items()}
    if "anyOf" in short:  # listed in the order of a set
        short["anyOf"].sort(key=str)
    if isinstance(short.get("description"), str):
        short["description"] = " ".join(short["description"].split("\n\n")[0].split())
    return short
