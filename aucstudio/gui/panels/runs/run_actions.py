"""Actions on selected runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtWidgets import QMenu, QWidget

from aucstudio.gui.common.conditional_actions import offer_combination
from aucstudio.gui.common.plotting import MARKER, swatch
from aucstudio.gui.panels.runs.run_order import GROUPS
from aucstudio.gui.panels.runs.runs_model import RunsModel
from aucstudio.gui.panels.runs.runs_table import RunsTable
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.words import runs_words

_COLOURS = 8


class RunsVerbs:
    """The verbs of a list of runs, and its menus.

    Parameters
    ----------
    session : Session
    model : RunsModel
    table : RunsTable
    edit_notes : callable
        Lets a person write down something about the chosen run.
    """

    def __init__(
        self,
        session: Session,
        model: RunsModel,
        table: RunsTable,
        edit_notes: Callable[[], object],
    ) -> None:
        self._session, self._model, self._table = session, model, table
        self._edit_notes = edit_notes

    # ------------------------------------------------------------- verbs

    def toggle_checks(self) -> None:
        """Check the chosen runs, or uncheck them if the present one is checked."""
        current, runs = self._table.current_run(), self._table.chosen_runs()
        if current is not None or runs:
            self.check(runs or [current], not (current or runs[0]).look.visible)

    def check(self, runs: Iterable[ShownRun | None], visible: bool) -> None:
        """Check or uncheck runs."""
        changed = [run.record.id for run in runs if run and run.look.visible != visible]
        if changed:
            text = "Show runs" if visible else "Hide runs"
            self._session.set_looks(changed, text, visible=visible)

    def check_only(self) -> None:
        """Check the chosen runs and no others."""
        kept = {run.record.id for run in self._table.chosen_runs()}
        plan = self._session.plan
        others = [run.record.id for run in self._model.runs]
        plan = plan.with_looks((run for run in others if run not in kept), visible=False)
        self._session.edit(plan.with_looks(kept, visible=True), "Show chosen runs only")

    def remove(self) -> None:
        """Take the chosen runs out of the list; the next one is chosen then."""
        runs = [run.record.id for run in self._table.chosen_runs()]
        if not runs:
            return
        rows, goes = [run.record.id for run in self._model.listed()], set(runs)
        place = rows.index(runs[0])
        left = [run for run in rows[place:] + rows[:place][::-1] if run not in goes]
        if left:
            self._session.select(left[0])
        text = "Remove run" if len(runs) == 1 else f"Remove {runs_words(len(runs))}"
        self._session.set_looks(runs, text, removed=True)

    def colour(self, colour: int) -> None:
        """Draw the chosen runs in a colour."""
        runs = [run.record.id for run in self._table.chosen_runs()]
        self._session.set_looks(runs, "Colour run", colour=colour)

    def compare(self) -> None:
        """Compare the chosen run with the present one, or two chosen ones with each other."""
        runs = [run.record.id for run in self._table.chosen_runs()]
        if len(runs) == 2:
            self._session.select(runs[0])
            self._session.compare_with(runs[1])
        elif len(runs) == 1:
            self._session.compare_with(runs[0])

    def reuse(self) -> None:
        """Put the settings of the present run back into the form."""
        run = self._table.current_run()
        if run is not None:
            self._session.reuse_settings(run.record.id)

    # ------------------------------------------------------------- menus

    def run_menu(self) -> QMenu:
        """Make the menu of the chosen runs."""
        runs = self._table.chosen_runs()
        one, several = len(runs) == 1, len(runs) > 1
        menu = _menu(self._table, "run_menu")
        _add(menu, "menu_rename", "&Rename\tF2", self._table.rename, one)
        _add(menu, "menu_notes", "&Notes…", self._edit_notes, one)
        colours = menu.addMenu("&Colour")
        for k in range(_COLOURS):
            _add(colours, f"menu_colour_{k + 1}", f"Colour {k + 1}", partial(self.colour, k))
            colours.actions()[-1].setIcon(swatch(RunLook("", k), MARKER))
        menu.addSeparator()
        _add(menu, "menu_check", "Chec&k", lambda: self.check(runs, True))
        _add(menu, "menu_uncheck", "&Uncheck", lambda: self.check(runs, False))
        _add(
            menu,
            "menu_check_only",
            "Check &only these" if several else "Check &only this",
            self.check_only,
        )
        menu.addSeparator()
        _add(menu, "menu_reuse", "Use these &settings", self.reuse, one)
        pair = len(runs) == 2
        words = "Com&pare these two" if pair else "Com&pare with this run"
        _add(menu, "menu_compare", words, self.compare, one or pair)
        self._offer_combination(menu, "menu_combine")
        menu.addSeparator()
        what = f" {runs_words(len(runs))}" if several else ""
        _add(menu, "menu_remove", f"Re&move{what} from the list\tDel", self.remove)
        return menu

    def list_menu(self, menu: QMenu) -> None:
        """Fill the menu of the whole list."""
        menu.clear()
        for old in menu.findChildren(QMenu):
            old.deleteLater()
        runs = self._model.listed()
        _add(menu, "list_check_all", "Check &all", lambda: self.check(runs, True), bool(runs))
        _add(menu, "list_check_none", "Check &none", lambda: self.check(runs, False), bool(runs))
        chosen = bool(self._table.chosen_runs())
        _add(menu, "list_check_chosen", "Check &chosen only", self.check_only, chosen)
        menu.addSeparator()
        self._offer_combination(menu, "list_combine")
        menu.addSeparator()
        for key, (title, _) in GROUPS.items():
            _add(menu, f"list_group_{key or 'none'}", title, partial(self._group, key))
            menu.actions()[-1].setCheckable(True)
            menu.actions()[-1].setChecked(self._model.order.group == key)
        menu.addSeparator()
        self._table.fill_column_menu(menu.addMenu("C&olumns"))

    def _offer_combination(self, menu: QMenu, name: str) -> None:
        _add(menu, name, "Com&bine checked runs", self._session.runs.combine_checked)
        menu.setToolTipsVisible(True)
        offer_combination(menu.actions()[-1], self._session)

    def _group(self, key: str) -> None:
        self._model.set_order(group=key)
        self._table.layout_changed.emit()


def _menu(parent: QWidget, name: str) -> QMenu:
    menu = QMenu(parent)
    menu.setObjectName(name)
    return menu


def _add(
    menu: QMenu, name: str, text: str, verb: Callable[[], object], enabled: bool = True
) -> None:
    action = menu.addAction(text)
    action.setObjectName(name)
    action.setEnabled(enabled)
    action.triggered.connect(lambda _checked=False: verb())
