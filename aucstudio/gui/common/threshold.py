"""Choose a threshold by a rule or by hand, and show its confusion matrix."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QGridLayout, QLineEdit, QWidget

from aucstudio.gui.common.form import narrow_combo
from aucstudio.gui.common.plain_text import plain_tooltip, told_apart
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import (
    LEFT,
    down,
    enable_item,
    label,
    named,
    push_button,
    quietly,
    show_note,
)
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices.words import as_sentence, class_words, figure_words, interval_words
from aucstudio.project.errors import InputError
from aucstudio.project.results.summary import Estimate
from aucstudio.project.results.thresholds import (
    ALERTS,
    BOUNDED,
    CASES,
    OWN,
    TYPED,
    Choice,
    Confusion,
    Stakes,
    Target,
    ThresholdFigures,
    amount_words,
    case_counts,
    choose,
    point_measures,
    read_rate,
    read_share,
    remarks,
    share_words,
)

CARD_WIDTH = 272
_NAME_WIDTHS = 60, 84  # pixels, beside the counts and above them
_RIGHT = Qt.AlignmentFlag.AlignRight
_COUNTS = ("tp", "fn", "fp", "tn")
_RATES = {
    "tpr": ("TPR", "Share of the positives found (recall), with its exact 95 % interval"),
    "fpr": ("FPR", "Share of the negatives predicted positive, with its exact 95 % interval"),
    "precision": (
        "Precision",
        "Share of the predicted positives that are positive, with its 95 % interval",
    ),
    "f1": ("F1", "Harmonic mean of precision and TPR"),
    "accuracy": ("Accuracy", "Accuracy"),
}
_ALERTS = {"alerts": "per 1,000", "daily": "a day"}


class ConfusionCard(QWidget):
    """Counts of a threshold on held-out rows, also for 10,000 cases at another prior.

    Attributes
    ----------
    cells, cases : dict of str to QLabel
        Counts "tp", "fn", "fp" and "tn" of the rows, and of 10,000 cases at the prior.
    rates, notes : dict of str to QLabel
        Values and intervals: TPR and FPR of the rows, the others at the prior.
    """

    def __init__(self, name: str = "confusion") -> None:
        super().__init__()
        named(self, name, "Confusion matrix")
        self.setFixedWidth(scaled(CARD_WIDTH))
        self.grid = QGridLayout(self)
        self.grid.setContentsMargins(0, 0, 0, 0)
        self.grid.setHorizontalSpacing(6)
        self.grid.setVerticalSpacing(1)
        self.grid.setColumnStretch(2, 1)
        self.heads = [label("", "muted", name=f"called_{s}") for s in ("positive", "negative")]
        self.sides = [label("", name=f"actual_{s}") for s in ("positive", "negative")]
        self.cells = {key: label("", name=f"count_{key}") for key in _COUNTS}
        self.cases = {key: label("", "muted", name=f"cases_{key}") for key in _COUNTS}
        self.caption = label("", "muted", name="cases_caption")
        self._lay_out_matrix()
        self.rates = {key: label("", name=f"rate_{key}") for key in (*_RATES, *_ALERTS)}
        self.notes = {key: label("", "muted", name=f"note_{key}") for key in _RATES}
        self._lay_out_rates()

    def _lay_out_matrix(self) -> None:
        for k, (head, side) in enumerate(zip(self.heads, self.sides, strict=True)):
            head.setAlignment(_RIGHT)
            self.grid.addWidget(head, 0, k + 1, _RIGHT | Qt.AlignmentFlag.AlignBottom)
            self.grid.addWidget(side, 2 * k + 1, 0)
        for k, key in enumerate(_COUNTS):
            row, column = 2 * (k // 2) + 1, 1 + k % 2
            self.grid.addWidget(self.cells[key], row, column, _RIGHT)
            self.grid.addWidget(self.cases[key], row + 1, column, _RIGHT)
        self.grid.addWidget(self.caption, 5, 0, 1, 3, _RIGHT)
        self.grid.setRowMinimumHeight(6, 8)

    def _lay_out_rates(self) -> None:
        for row, (key, (title, tip)) in enumerate(_RATES.items(), 7):
            head = label(title, "muted")
            plain_tooltip(head, tip)
            for column, widget in enumerate((head, self.rates[key], self.notes[key])):
                side = _RIGHT if column else Qt.AlignmentFlag.AlignLeft
                self.grid.addWidget(widget, row, column, side)
        first = 7 + len(_RATES)
        self.grid.addWidget(label("Alerts", "muted"), first, 0)
        for row, key in enumerate(_ALERTS, first):
            plain_tooltip(self.rates[key], "Cases predicted positive, with the 95 % interval")
            self.grid.addWidget(self.rates[key], row, 0, 1, 3, _RIGHT)

    def name_classes(self, positive: str, negative: str) -> None:
        """Show the names of the classes; a long name is shortened, with the tooltip in full."""
        names = positive, negative
        width = QFontMetrics(self.font()).horizontalAdvance
        cut = [told_apart(*names, scaled(w), width) for w in _NAME_WIDTHS]
        for k, (name, side, head) in enumerate(zip(names, *cut, strict=True)):
            whole = side == name
            self.heads[k].setText(f"predicted\n{class_words(name) if whole else head}")
            self.sides[k].setText(f"is {class_words(side)}")
            for widget in (self.heads[k], self.sides[k]):
                plain_tooltip(widget, name)

    def show_figures(self, figures: ThresholdFigures, stakes: Stakes) -> None:
        """Show the figures of a threshold under the stakes."""
        counts, prior = figures.counts, figures.prior
        shares = case_counts(counts.tpr, counts.fpr, prior)
        for key, cases in zip(_COUNTS, shares, strict=True):
            self.cells[key].setText(f"{key.upper()}  {getattr(counts, key):,}")
            self.cases[key].setText(amount_words(cases))
        share = "–" if math.isnan(prior) else share_words(prior)
        self.caption.setText(f"per {CASES:,} cases, {share} positive")
        for key in ("tpr", "fpr", "precision"):
            self._show_rate(key, getattr(figures, key))
        measures = point_measures(counts.tpr, counts.fpr, prior)
        for key in ("f1", "accuracy"):
            self.rates[key].setText(_rate(measures[key]))
        self._show_amount("alerts", figures.alerts, 1000.0)
        self._show_amount("daily", figures.alerts, stakes.cases or math.nan)
        self.rates["daily"].setVisible(stakes.cases is not None)

    def _show_rate(self, key: str, rate: Estimate) -> None:
        self.rates[key].setText(_rate(rate.value))
        self.notes[key].setText("" if math.isnan(rate.value) else interval_words(*rate.bounds))

    def _show_amount(self, key: str, rate: Estimate, cases: float) -> None:
        value, low, high = (amount_words(share * cases) for share in (rate.value, *rate.bounds))
        interval = "" if math.isnan(rate.value) else f" ({low}–{high})"
        self.rates[key].setText(f"{value} {_ALERTS[key]}{interval}")


def _rate(value: float) -> str:
    """Write a rate; a small one with two significant digits."""
    if math.isnan(value):
        return "–"
    return f"{value:.2g}" if 0 < value < 0.00995 else f"{value:.3f}"


@dataclasses.dataclass(frozen=True)
class Chosen:
    """The content of a chooser.

    Attributes
    ----------
    target : Target
    choice : Choice
        Its threshold on the present rows.
    figures : ThresholdFigures
    names : (str, str)
        Of the positive and the negative class.
    where : str
        Describes the rows, if that is needed.
    """

    target: Target
    choice: Choice
    figures: ThresholdFigures
    names: tuple[str, str]
    where: str = ""

    @classmethod
    def of_focus(cls, session: Session, run: ShownRun, split: int, counts: Confusion) -> Chosen:
        """Return the threshold in focus of a run, with its counts."""
        record, stakes, target = run.record, session.stakes, session.focus.target
        model, count = record.splits[split].model, len(record.splits)
        placed = session.focus.threshold
        # A threshold in focus has been computed already.
        choice = Choice(placed) if placed else choose(record, split, target, stakes)
        where = []
        if target.rule == TYPED and not target.is_typed_on(record, split):
            where.append(
                f"Set on another scale of scores; applied here at the same FPR, {target.fpr:.3g}."
            )
        if count > 1:
            where.append(f"Split {split + 1} of {count}; each split has its own threshold.")
        if record.experiment.weight is not None:
            where.append(f"Counts are rows; shares are weighted by {record.experiment.weight}.")
        figures = ThresholdFigures.of(counts, stakes.prior)
        names = model.positive, model.negative
        return cls(target, choice, figures, names, " ".join(where))


def figures_sentence(figures: ThresholdFigures) -> str:
    """Describe what a threshold does in a sentence."""
    rates = {"TPR": figures.tpr, "FPR": figures.fpr, "precision": figures.precision}
    parts = [
        f"{name} {figure_words(rate.value)} ({interval_words(*rate.bounds)})"
        for name, rate in rates.items()
    ]
    return (
        f"{', '.join(parts)}, {amount_words(1000 * figures.alerts.value)} alerts per 1,000 cases."
    )


RULES = {
    OWN: "default threshold",
    "fpr": "FPR at most",
    "tpr": "TPR at least",
    "precision": "precision at least",
    ALERTS: "alerts a day at most",
    "cost": "least cost",
    "equal-error": "equal error rates",
    "min-max": "midway between classes",
    TYPED: "set by hand",
}
_TIPS = {
    "fpr": "Share of the negatives that may be predicted positive: 0.01 or 1 %",
    "tpr": "Share of the positives that must be found: 0.9 or 90 %",
    "precision": "Share of the predicted positives that must be true positives: 0.5 or 50 %",
    ALERTS: "How many cases a day may be predicted positive",
}
_FIRST = {"tpr": 0.9, "precision": 0.5, ALERTS: 10.0}
_DEFAULT_FPR = 0.01
_WITH_PRIOR = ("precision", ALERTS, "cost")
_FIELD = 92
_MOST = 1e9
_OWN_SHOWN = "The default threshold of the model is shown."
_EVERYWHERE = (
    "For every run and split, in every view, in exported models and scored tables; kept in the "
    "project"
)
_FIELDS = {
    "bound": ("Limit of the rule", ""),
    "cases": ("Cases a day", "Number of cases per day"),
    "prior": ("Share of positives", "Such as 0.0002, 0.02 % or 1 in 5000; empty: as in the data"),
    "miss": (
        "Cost of a miss in false alarms",
        "How many false alarms one missed positive is worth",
    ),
    "threshold": (
        "Threshold",
        "The positive class is predicted where the score is greater than this threshold",
    ),
}


class ThresholdChooser(QWidget):
    """Chooses a threshold by a rule and its bound, or by a number, and shows its consequences.

    Parameters
    ----------
    name : str
        First part of the object names of its controls.
    session : Session
        Holds the stakes, and the target that is used for all runs.
    small : bool
        Whether the consequences are shown in a sentence instead of a card.

    Signals
    -------
    target_chosen : Target
        The user chose another rule or bound.
    threshold_typed : float

    Attributes
    ----------
    rule : QComboBox
    bound, threshold, cases, prior, miss : QLineEdit
    everywhere : QPushButton
    card : ConfusionCard
    """

    target_chosen = Signal(object)
    threshold_typed = Signal(float)

    def __init__(self, name: str, session: Session, *, small: bool = False) -> None:
        super().__init__()
        named(self, f"{name}_chooser", "Threshold")
        if not small:
            self.setFixedWidth(scaled(CARD_WIDTH))
        self._small = small
        self._name, self._session = name, session
        self._chosen: Chosen | None = None
        self._shown: dict[QLineEdit, str] = {}
        self._values = dict(_FIRST)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(0, 1)
        self.rule = narrow_combo(f"{name}_rule", "Threshold rule")
        for key, words in RULES.items():
            self.rule.addItem(words, key)
        self._grid.addWidget(self.rule, 0, 0)
        self._make_fields()
        self.problem = label("", "error", wrap=True, name=f"{name}_problem")
        self.effect = label("", wrap=True, name=f"{name}_effect")
        self.card = ConfusionCard(f"{name}_confusion")
        self.remarks = label("", "muted", wrap=True, name=f"{name}_remarks")
        self.everywhere = push_button(
            f"{name}_everywhere_button", "&Use for all runs", _EVERYWHERE, self._on_everywhere
        )
        self.rule.currentIndexChanged.connect(self._on_rule)
        parts = (self._grid, self.problem, self.effect, self.card, self.remarks)
        self.setLayout(down(*parts, (self.everywhere, LEFT), gap=6))
        self.effect.setVisible(small)
        self.card.setVisible(not small)
        self.everywhere.setVisible(not small)

    def _make_fields(self) -> None:
        session = self._session
        self._titles: dict[QLineEdit, QWidget] = {}
        self.bound = self._field("bound", "", self._on_bound)
        self.cases = self._field(
            "cases",
            "of cases a day",
            lambda text: session.weigh(
                cases=_number(text, "number of cases a day", 1) if text else None
            ),
        )
        self.prior = self._field(
            "prior",
            "share of positives",
            lambda text: session.weigh(prior=read_share(text) if text else None),
        )
        self.prior.setPlaceholderText("data\u2019s")
        self.miss = self._field(
            "miss",
            "false alarms per miss",
            lambda text: session.weigh(miss=_number(text, "cost of a miss", 1e-6)),
        )
        self.threshold = self._field(
            "threshold",
            "positive where score >",
            lambda text: self.threshold_typed.emit(_number(text, "threshold", -_MOST)),
        )

    def _field(self, name: str, title: str, apply: Callable[[str], object]) -> QLineEdit:
        accessible, tip = _FIELDS[name]
        made = named(QLineEdit(), f"{self._name}_{name}", accessible)
        made.setFixedWidth(scaled(_FIELD))
        plain_tooltip(made, tip)
        made.editingFinished.connect(lambda: self._on_edited(made, apply))
        if title:
            self._titles[made] = label(title, "muted")
            self._grid.addWidget(self._titles[made], len(self._titles), 0)
        self._grid.addWidget(made, len(self._titles), 1)
        return made

    def minimumSizeHint(self) -> QSize:
        """Return the height of the wrapped texts, or the card would be squeezed."""
        hint, layout = super().minimumSizeHint(), self.layout()
        if self._small or layout is None or not layout.hasHeightForWidth():
            return hint
        return QSize(hint.width(), layout.totalHeightForWidth(self.width()))

    def follow_focus(self) -> ThresholdChooser:
        """Apply the chosen threshold in every view."""
        session = self._session
        self.target_chosen.connect(lambda target: session.set_threshold(target=target))
        self.threshold_typed.connect(lambda value: session.set_threshold(threshold=value))
        return self

    def controls(self) -> list[QWidget]:
        """List the controls in reading order."""
        return [self.rule, self.bound, *self._titles]

    # ------------------------------------------------------------- showing

    def show_chosen(self, chosen: Chosen) -> None:
        """Show a target, its position and its consequences."""
        self._chosen = chosen
        target, stakes = chosen.target, self._session.stakes
        if target.rule in BOUNDED:
            self._values[target.rule] = target.value
        enable_item(self.rule, TYPED, target.rule == TYPED)
        quietly(self.rule.setCurrentIndex, self.rule.findData(target.rule))
        plain_tooltip(self.bound, _TIPS.get(target.rule, ""))
        self.bound.setVisible(target.rule in BOUNDED)
        shown = {
            self.cases: target.rule == ALERTS,
            self.prior: target.rule in _WITH_PRIOR,
            self.miss: target.rule == "cost",
            self.threshold: True,
        }
        for field, title in self._titles.items():
            field.setVisible(shown[field])
            title.setVisible(shown[field])
        for field, text in self._texts().items():
            # Typed text stays unless the value has changed meanwhile.
            if text != self._shown.get(field):
                field.setText(text)
                field.setCursorPosition(0)
                self._shown[field] = text
        self.effect.setText(figures_sentence(chosen.figures))
        self.card.name_classes(*chosen.names)
        self.card.show_figures(chosen.figures, stakes)
        problem = chosen.choice.problem
        show_note(self.problem, f"{problem} {_OWN_SHOWN}" if problem else "", "error")
        more = [] if problem else remarks(target, stakes, chosen.figures)
        show_note(self.remarks, " ".join(filter(None, [chosen.where, *map(str, more)])))
        self._show_everywhere(target)

    def _texts(self) -> dict[QLineEdit, str]:
        """Return the texts of the fields."""
        assert self._chosen is not None
        target, stakes = self._chosen.target, self._session.stakes
        return {
            self.bound: f"{target.value:.10g}" if target.rule in BOUNDED else "",
            self.threshold: f"{self._chosen.choice.threshold:.6g}".replace("-", "\u2212"),
            self.cases: "" if stakes.cases is None else f"{stakes.cases:.10g}",
            self.prior: "" if stakes.prior is None else share_words(stakes.prior),
            self.miss: f"{stakes.miss:.10g}",
        }

    def _show_everywhere(self, target: Target) -> None:
        used = target == self._session.plan.target
        words = "In use for all runs" if used else "&Use for all runs"
        self.everywhere.setText(words)
        self.everywhere.setAccessibleName(words.replace("&", ""))
        self.everywhere.setEnabled(not used)

    # ------------------------------------------------------------- choosing

    def _on_rule(self) -> None:
        rule = str(self.rule.currentData())
        end = self._session.plan.band[1]
        default = (end if end < 1 else _DEFAULT_FPR) if rule == "fpr" else 0.0
        self.target_chosen.emit(Target(rule, self._values.get(rule, default)))

    def _on_everywhere(self) -> None:
        if self._chosen is not None:
            self._session.use_everywhere(self._chosen.target)
            self._show_everywhere(self._chosen.target)

    def _on_edited(self, field: QLineEdit, apply: Callable[[str], object]) -> None:
        """Apply the text of a field if it has changed."""
        if self._chosen is None or field.text() == self._shown.get(field):
            return
        try:
            apply(field.text().replace("\u2212", "-").strip())
        except InputError as error:
            show_note(self.problem, as_sentence(str(error)), "error")

    def _on_bound(self, text: str) -> None:
        assert self._chosen is not None
        rule = self._chosen.target.rule
        names = {"fpr": "FPR", "tpr": "TPR", "precision": "precision"}
        if rule == ALERTS:
            value = _number(text, "number of alerts a day", 0)
        else:
            value = read_rate(text, names[rule])
        self.target_chosen.emit(Target(rule, value))


def _number(text: str, what: str, least: float) -> float:
    """Read a typed number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not least <= value <= _MOST:
        bounds = "" if least < 0 else f" of at least {least:g}"
        raise InputError(f"the {what} is a number{bounds}; it is {text!r}")
    return value
