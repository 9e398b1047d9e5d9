"""Choose a threshold by a rule or by hand, and show its confusion matrix."""

from __future__ import annotations

import dataclasses
import math

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QWidget

from aucstudio.engine.params import read_decimal
from aucstudio.gui.common.form import choice_box
from aucstudio.gui.common.layouts import LEFT, down, grid, keep_room
from aucstudio.gui.common.plain_text import distinguishable, plain_tooltip
from aucstudio.gui.common.theme import fix_width, scaled
from aucstudio.gui.common.widgets import enable_item, label, named, quietly, show_note
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import text
from aucstudio.notices.controls import control_words
from aucstudio.notices.words import as_sentence, class_words, figure_words, interval_words
from aucstudio.project.errors import InputError
from aucstudio.project.results.summary import WHOLE, Estimate
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
    judged_range,
    point_measures,
    range_end,
    read_rate,
    read_share,
    run_counts,
    share_words,
    threshold_remarks,
)
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.record import RunRecord

CARD_WIDTH = 272
_NAME_WIDTHS = 60, 84  # pixels, beside the counts and above them
_RIGHT = Qt.AlignmentFlag.AlignRight
_COUNTS = ("tp", "fn", "fp", "tn")
_RATES = ("tpr", "fpr", "precision", "f1", "accuracy")
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
        fix_width(self, CARD_WIDTH)
        self.grid = grid(gaps=(6, 1), wide=2)
        self.setLayout(self.grid)
        self.heads = [label("", "muted", name=f"called_{s}") for s in ("positive", "negative")]
        self.sides = [label("", name=f"actual_{s}") for s in ("positive", "negative")]
        self.cells = {key: label("", name=f"count_{key}") for key in _COUNTS}
        self.cases = {key: label("", "muted", name=f"cases_{key}") for key in _COUNTS}
        self.caption = label("", "muted", name="cases_caption")
        self.rates = {key: named(label(), f"rate_{key}") for key in (*_RATES, *_ALERTS)}
        self.notes = {key: label("", "muted", name=f"note_{key}") for key in _RATES}
        self._lay_out()

    def _lay_out(self) -> None:
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
        for row, key in enumerate(_RATES, 7):
            head = named(label("", "muted"), f"head_{key}")
            self.grid.addWidget(head, row, 0)
            self.grid.addWidget(self.rates[key], row, 1, _RIGHT)
            self.grid.addWidget(self.notes[key], row, 2, _RIGHT)
        first = self.grid.rowCount()
        self.grid.addWidget(label("Alerts", "muted"), first, 0)
        for row, key in enumerate(_ALERTS, first):
            self.grid.addWidget(self.rates[key], row, 0, 1, 3, _RIGHT)

    def name_classes(self, positive: str, negative: str) -> None:
        """Show the names of the classes; a long name is shortened, with the tooltip in full."""
        names = positive, negative
        width = QFontMetrics(self.font()).horizontalAdvance
        cut = [distinguishable(*names, scaled(w), width) for w in _NAME_WIDTHS]
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
        measures = point_measures(counts.tpr, counts.fpr, prior)
        for key in _RATES:
            rate = getattr(figures, key, None)
            value = measures[key] if rate is None else rate.value
            self.rates[key].setText(_rate(value))
            if rate is not None:
                self.notes[key].setText(interval_words(*rate.bounds) if rate.known else "")
        self._show_amount("alerts", figures.alerts, 1000.0)
        self._show_amount("daily", figures.alerts, stakes.cases or math.nan)
        self.rates["daily"].setVisible(stakes.cases is not None)

    def _show_amount(self, key: str, rate: Estimate, cases: float) -> None:
        """Show how many cases are predicted positive, with the interval."""
        value, low, high = (amount_words(share * cases) for share in (rate.value, *rate.bounds))
        interval = f" ({low}–{high})" if rate.known else ""
        self.rates[key].setText(f"{value} {_ALERTS[key]}{interval}")


def _rate(value: float) -> str:
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
    after_refit : bool
        Whether the threshold is chosen only after a refit, so that no number is known yet.
    """

    target: Target
    choice: Choice
    figures: ThresholdFigures
    names: tuple[str, str]
    where: str = ""
    after_refit: bool = False

    @classmethod
    def of_focus(cls, session: Session, run: ShownRun, split: int, counts: Confusion) -> Chosen:
        """Return the threshold in focus of a run, with its counts."""
        record, stakes, target = run.record, session.stakes, session.focus.target
        model, count = record.splits[split].model, len(record.splits)
        choice = choose(record, split, target, stakes)
        where = [range_end_words(record, session.plan.band, target)]
        if target.rule == TYPED and not target.is_typed_on(record, split):
            where.append(
                f"Set on another scale of scores; applied here at the same FPR, {target.fpr:.3g}."
            )
        if count > 1:
            where.append(f"Split {split + 1} of {count}; each split has its own threshold.")
            sums = run_counts(record, target, stakes)
            where.append(text("counts_over_splits", splits=count, counts=sums))
            figures = ThresholdFigures.of(counts, stakes.prior)
        else:
            figures = ThresholdFigures.of_run(record, target, stakes)
        where.append(units_words(record))
        names = model.positive, model.negative
        return cls(target, choice, figures, names, " ".join(filter(None, where)))


def range_end_words(record: RunRecord, band: Band, target: Target) -> str:
    """State that a target is the end of a run's FPR range; empty for another target."""
    if target.rule == OWN or target != range_end(record, band):
        return ""
    return text("threshold_of_range_end", range=judged_range(record, band), trained=band == WHOLE)


def units_words(record: RunRecord) -> str:
    """State what the figures of a run count; empty if each row counts once."""
    made = record.experiment
    return text("counted_units", weight=made.weight, groups=made.data.groups).strip()


def threshold_words(threshold: float) -> str:
    """Return a threshold as its field shows it."""
    return f"{threshold:.6g}".replace("-", "\u2212")


def rates_words(figures: ThresholdFigures) -> str:
    """Return the rates of a threshold that are known, with their intervals."""
    rates = {"TPR": figures.tpr, "FPR": figures.fpr, "precision": figures.precision}
    return ", ".join(
        f"{name} {figure_words(rate.value)}"
        + (f" ({interval_words(*rate.bounds)})" if rate.known else "")
        for name, rate in rates.items()
        if not math.isnan(rate.value)
    )


_FIRST = {"tpr": 0.9, "precision": 0.5, ALERTS: 10.0}
_DEFAULT_FPR = 0.01
_FIELD = 92  # pixels of width
_PROBLEM_LINES = 2
_MOST = 1e9
# The rules for which a field is shown; the threshold itself always is.
_RULES_OF = {"cases": (ALERTS,), "prior": ("precision", ALERTS, "cost"), "miss": ("cost",)}
_LEAST = {"bound": 0.0, "cases": 1.0, "miss": 1e-6, "threshold": -_MOST}
_NUMBERS = {
    "bound": "number of alerts a day",
    "cases": "number of cases a day",
    "miss": "cost of a miss",
    "threshold": "threshold",
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
            fix_width(self, CARD_WIDTH)
        self._small, self._name, self._session = small, name, session
        self._chosen: Chosen | None = None
        self._shown: dict[str, str] = {}
        self._values = dict(_FIRST)
        self.fields: dict[str, QLineEdit] = {}
        self._titles: dict[str, QLabel] = {}
        self._grid = grid(gaps=(8, 4), wide=0)
        self.rule = choice_box(f"{name}_rule", narrow=True, like="threshold_rule")
        self.setFocusProxy(self.rule)
        self._grid.addWidget(self.rule, 0, 0)
        for row, key in enumerate(("bound", *_RULES_OF, "threshold")):
            self._add_field(row, key)
        self.problem = label("", "error", wrap=True, name=f"{name}_problem")
        if not small:  # an error must not move what is below
            keep_room(self.problem)
        self.effect = label("", wrap=True, name=f"{name}_effect")
        self.card = ConfusionCard(f"{name}_confusion")
        self.remarks = label("", "muted", wrap=True, name=f"{name}_remarks")
        self.everywhere = named(
            QPushButton(), f"{name}_everywhere_button", like="threshold_everywhere"
        )
        self.everywhere.clicked.connect(self._on_everywhere)
        self.rule.currentIndexChanged.connect(self._on_rule)
        parts = (self._grid, self.problem, self.effect, self.card, self.remarks)
        self.setLayout(down(*parts, (self.everywhere, LEFT), gap=6))
        self.effect.setVisible(small)
        self.card.setVisible(not small)
        self.everywhere.setVisible(not small)

    def _add_field(self, row: int, key: str) -> None:
        """Add a field; the bound is beside the rule, the others are below with their titles."""
        entry = f"threshold_{key}"
        made = self.fields[key] = named(QLineEdit(), f"{self._name}_{key}", like=entry)
        fix_width(made, _FIELD)
        made.editingFinished.connect(lambda: self._on_edited(key))
        self._grid.addWidget(made, row, 1)
        if key != "bound":
            self._titles[key] = label(control_words(entry)["title"], "muted")
            self._grid.addWidget(self._titles[key], row, 0)

    def minimumSizeHint(self) -> QSize:
        # A scroll area gives labels that wrap one line, and would cut the others off.
        hint, layout = super().minimumSizeHint(), self.layout()
        if self._small or layout is None or not layout.hasHeightForWidth():
            return hint
        return QSize(hint.width(), layout.totalHeightForWidth(self.width()))

    def follow_focus(self) -> ThresholdChooser:
        """Change the threshold of the selected run by every choice; return the chooser."""
        session = self._session
        self.target_chosen.connect(lambda target: session.set_threshold(target=target))
        self.threshold_typed.connect(lambda value: session.set_threshold(threshold=value))
        return self

    # ------------------------------------------------------------- showing

    def show_chosen(self, chosen: Chosen) -> None:
        """Show a threshold and its consequences."""
        self._chosen = chosen
        target, stakes = chosen.target, self._session.stakes
        if target.rule in BOUNDED:
            self._values[target.rule] = target.value
        enable_item(self.rule, TYPED, target.rule == TYPED)
        quietly(self.rule.setCurrentIndex, self.rule.findData(target.rule))
        tips = control_words("threshold_bound")["choices"]
        plain_tooltip(self.fields["bound"], tips.get(target.rule, ""))
        is_bounded = target.rule in BOUNDED
        self.fields["bound"].setVisible(is_bounded)
        # Without a bound, the rule takes its place; the longest texts need it.
        self._grid.addWidget(self.rule, 0, 0, 1, 1 if is_bounded else 2)
        for key, rules in _RULES_OF.items():
            for widget in (self.fields[key], self._titles[key]):
                widget.setVisible(target.rule in rules)
        self.fields["threshold"].setEnabled(not chosen.after_refit)
        self.fields["threshold"].setPlaceholderText(
            text("threshold_after_refit") if chosen.after_refit else ""
        )
        for key, words in self._texts(chosen).items():
            # Typed text stays unless the value has changed meanwhile.
            if words != self._shown.get(key):
                self.fields[key].setText(words)
                self.fields[key].setCursorPosition(0)
                self._shown[key] = words
        alerts = amount_words(1000 * chosen.figures.alerts.value)
        self.effect.setText(f"{rates_words(chosen.figures)}, {alerts} alerts per 1,000 cases.")
        self.card.name_classes(*chosen.names)
        self.card.show_figures(chosen.figures, stakes)
        problem, line = chosen.choice.problem, self.problem.fontMetrics().lineSpacing()
        self.problem.setMinimumHeight(0 if self._small else _PROBLEM_LINES * line)
        show_note(self.problem, f"{problem} {_OWN_SHOWN}" if problem else "", "error")
        more = [] if problem else threshold_remarks(target, stakes, chosen.figures)
        show_note(self.remarks, " ".join(filter(None, [chosen.where, *map(str, more)])))
        self._show_everywhere(target)

    def _texts(self, chosen: Chosen) -> dict[str, str]:
        """Return the text of each field."""
        target, stakes = chosen.target, self._session.stakes
        return {
            "bound": f"{target.value:.10g}" if target.rule in BOUNDED else "",
            "threshold": "" if chosen.after_refit else threshold_words(chosen.choice.threshold),
            "cases": "" if stakes.cases is None else f"{stakes.cases:.10g}",
            "prior": "" if stakes.prior is None else share_words(stakes.prior),
            "miss": f"{stakes.miss:.10g}",
        }

    def _show_everywhere(self, target: Target) -> None:
        used = target == self._session.focus.target and not self._session.plan.targets
        words = "Used by all runs" if used else control_words("threshold_everywhere")["text"]
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

    def _on_edited(self, key: str) -> None:
        typed = self.fields[key].text()
        if self._chosen is None or typed == self._shown.get(key):
            return
        try:
            self._apply(key, typed.strip(), self._chosen.target.rule)
        except InputError as error:
            show_note(self.problem, as_sentence(str(error)), "error")

    def _apply(self, key: str, typed: str, rule: str) -> None:
        """Apply a typed text.

        Raises
        ------
        InputError
            If it is not a number that the field takes.
        """
        if key == "bound" and rule != ALERTS:
            self.target_chosen.emit(Target(rule, read_rate(typed, _RATE_NAMES[rule])))
        elif key == "bound":
            self.target_chosen.emit(Target(rule, _number(typed, key)))
        elif key == "threshold":
            self.threshold_typed.emit(_number(typed, key))
        elif key == "prior":
            self._session.weigh(prior=read_share(typed) if typed else None)
        else:
            self._session.weigh(**{key: _number(typed, key) if typed or key == "miss" else None})


_RATE_NAMES = {"fpr": "FPR", "tpr": "TPR", "precision": "precision"}
_OWN_SHOWN = "The model\u2019s own threshold is shown."


def _number(typed: str, key: str) -> float:
    """Read a typed number."""
    try:
        value = read_decimal(typed)
    except ValueError:
        value = math.nan
    if not _LEAST[key] <= value <= _MOST:
        bounds = "" if _LEAST[key] < 0 else f" of at least {_LEAST[key]:g}"
        raise InputError(f"the {_NUMBERS[key]} is a number{bounds}; it is {typed!r}")
    return value
