"""Controls of prior and cost."""

from __future__ import annotations

import math

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSlider,
    QWidget,
)

from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.threshold import CARD_WIDTH
from aucstudio.gui.common.widgets import (
    across,
    down,
    label,
    make_buddy,
    named,
    push_button,
    show_note,
)
from aucstudio.gui.state.session import Session
from aucstudio.project.errors import InputError
from aucstudio.project.results.operating_points import (
    LEAST_PRIOR,
    amount_words,
    read_share,
    share_words,
)

_STEPS = 600  # of a slider, a hundred for each power of ten
_MOST_PRIOR = 0.99  # on the slider; the field takes more
_MOST_MISS = 1e6
_ROWS = {
    "best": "least, best point",
    "point": "operating point",
    "nobody": "all negative",
    "everybody": "all positive",
}


class CostPanel(QWidget):
    """Form of prior and cost of a miss; shows costs per 10,000 cases.

    Attributes
    ----------
    prior_field, miss_field : QLineEdit
    prior_slider, miss_slider : QSlider
    table_button, best_button : QPushButton
    costs : dict of str to QLabel
        Of the keys "best", "point", "nobody" and "everybody".
    """

    best_asked = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        named(self, "cost_panel", "Prior and cost")
        self.setFixedWidth(scaled(CARD_WIDTH))
        self._session = session
        self._prior = 0.5
        self.problem = label("", "error", wrap=True, name="stakes_problem")
        self.problem.hide()
        self._make_fields()
        prior = _line("Positi&ves", self.prior_field, self.table_button)
        miss = _line("A m&iss costs", self.miss_field, self.alarms)
        parts = prior, self.prior_slider, self.whose, miss, self.miss_slider, self.problem
        costs = self._make_costs(), self.sure, self.best_button
        self.setLayout(down(label("PRIOR AND COST", "heading"), *parts, *costs, gap=4))
        self._connect()

    def _make_fields(self) -> None:
        self.prior_field = named(QLineEdit(), "prior_field", "Share of positives")
        plain_tooltip(self.prior_field, "Such as 0.0002, 0.02 % or 1 in 5000")
        self.table_button = push_button(
            "prior_data_button",
            "As in &data",
            "Use the share of positives of the table",
            lambda: self._session.weigh(prior=None),
        )
        self.prior_slider = _slider("prior_slider", "Share of positives, logarithmic")
        self.whose = label("", "muted", name="prior_whose")
        self.miss_field = named(QLineEdit(), "miss_field", "Cost of a miss in false alarms")
        plain_tooltip(self.miss_field, "How many false alarms one missed positive is worth")
        self.miss_slider = _slider("miss_slider", "Cost of a miss, logarithmic")
        self.alarms = label("", name="miss_unit")
        self.sure = label("", "muted", wrap=True, name="best_threshold_words")
        self.best_button = push_button(
            "best_point_button",
            "&Go to best",
            "Move the operating point to where the expected cost is least",
            self.best_asked.emit,
        )

    def _make_costs(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setContentsMargins(0, 4, 0, 0)
        grid.setVerticalSpacing(1)
        grid.setColumnStretch(0, 1)
        head = label("Cost of 10,000 cases", "muted")
        plain_tooltip(head, "Expected cost, in false alarms")
        grid.addWidget(head, 0, 0, 1, 2)
        self.costs: dict[str, QLabel] = {}
        for k, (key, words) in enumerate(_ROWS.items(), start=1):
            self.costs[key] = label("", name=f"cost_{key}")
            grid.addWidget(label(words, "muted"), k, 0)
            grid.addWidget(self.costs[key], k, 1, Qt.AlignmentFlag.AlignRight)
        return grid

    def _connect(self) -> None:
        self.prior_field.editingFinished.connect(self._on_prior)
        self.miss_field.editingFinished.connect(self._on_miss)
        self.prior_slider.valueChanged.connect(
            lambda k: self._session.weigh(prior=_rounded(prior_at(k)))
        )
        self.miss_slider.valueChanged.connect(
            lambda k: self._session.weigh(miss=_rounded(_MOST_MISS ** (2 * k / _STEPS - 1)))
        )

    # ------------------------------------------------------------- reading and showing

    def show_stakes(self, prior: float) -> None:
        """Show the stakes in force; ``prior`` is the chosen one or that of the data."""
        stakes = self._session.stakes
        self._prior = prior
        with QSignalBlocker(self.prior_slider), QSignalBlocker(self.miss_slider):
            self.prior_slider.setValue(prior_step(prior))
            place = (math.log(stakes.miss, _MOST_MISS) + 1) / 2
            self.miss_slider.setValue(round(_STEPS * place))
        self.prior_field.setText(share_words(prior))
        self.miss_field.setText(f"{stakes.miss:.10g}")
        self.alarms.setText("false alarm" if stakes.miss == 1 else "false alarms")
        self.table_button.setEnabled(stakes.prior is not None)
        self.whose.setText("as in the data" if stakes.prior is None else "chosen, not of the data")

    def show_costs(self, **costs: float) -> None:
        """Show expected costs by the keys of :attr:`costs`."""
        for key, cost in costs.items():
            self.costs[key].setText(amount_words(cost))

    def _on_prior(self) -> None:
        text = self.prior_field.text()
        if text == share_words(self._prior):
            return
        try:
            share = read_share(text)
        except InputError as error:
            show_note(self.problem, str(error), "error")
            return
        show_note(self.problem, "")
        self._session.weigh(prior=share)

    def _on_miss(self) -> None:
        try:
            miss = float(self.miss_field.text())
            if not 1 / _MOST_MISS <= miss <= _MOST_MISS:
                raise ValueError
        except ValueError:
            words = "the cost of a miss is a number from 0.000001 to 1000000; it is"
            show_note(self.problem, f"{words} {self.miss_field.text()!r}", "error")
            return
        show_note(self.problem, "")
        self._session.weigh(miss=miss)


def prior_at(step: int) -> float:
    """Return the prior at a step of the slider."""
    return float(LEAST_PRIOR * (_MOST_PRIOR / LEAST_PRIOR) ** (step / _STEPS))


def prior_step(prior: float) -> int:
    """Return the step of the slider nearest to a prior."""
    place = math.log(prior / LEAST_PRIOR) / math.log(_MOST_PRIOR / LEAST_PRIOR)
    return min(round(_STEPS * place), _STEPS)


def _rounded(value: float) -> float:
    return float(f"{value:.2g}")


def _slider(name: str, accessible: str) -> QSlider:
    made = named(QSlider(Qt.Orientation.Horizontal), name, accessible)
    made.setRange(0, _STEPS)
    made.setPageStep(_STEPS // 6)
    plain_tooltip(made, accessible)
    return made


def _line(text: str, field: QLineEdit, last: QWidget) -> QHBoxLayout:
    return across(make_buddy(text, field), (field, 1), last)
