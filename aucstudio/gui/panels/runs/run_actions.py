"""Actions on selected runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from aucstudio.gui.common.actions import make_action, offer_combination
from aucstudio.gui.common.plotting import MARKER, swatch
from aucstudio.gui.panels.runs.run_order import GROUPS
from aucstudio.gui.panels.runs.runs_model import RunsModel
from aucstudio.gui.panels.runs.runs_table import RunsTable
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices.words import runs_words

_COLOURS = 8


class RunActions:
    """Actions on the selected runs of a list, and its menus.

    Parameters
    ----------
    session : Session
    model : RunsModel
    table : RunsTable
    edit_notes : callable
        Opens the notes of the chosen run.
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

    # ------------------------------------------------------------- actions

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
        """Remove the chosen runs from the list and choose the next one."""
        runs = [run.record.id for run in self._table.chosen_runs()]
        if not runs:
            return
        rows, removed = [run.record.id for run in self._model.listed()], set(runs)
        place = rows.index(runs[0])
        left = [run for run in rows[place:] + rows[:place][::-1] if run not in removed]
        if left:
            self._session.select(left[0])
        text = "Remove run" if len(runs) == 1 else f"Remove {runs_words(len(runs))}"
        self._session.set_looks(runs, text, removed=True)

    def colour(self, colour: int) -> None:
        """Draw the chosen runs in a colour."""
        runs = [run.record.id for run in self._table.chosen_runs()]
        self._session.set_looks(runs, "Colour run", colour=colour)

    def compare(self) -> None:
        """Compare the chosen run with the current one, or two chosen runs with each other."""
        runs = [run.record.id for run in self._table.chosen_runs()]
        if len(runs) == 2:
            self._session.select(runs[0])
            self._session.compare_with(runs[1])
        elif len(runs) == 1:
            self._session.compare_with(runs[0])

    def reuse(self) -> None:
        """Put the settings of the current run into the form."""
        run = self._table.current_run()
        if run is not None:
            self._session.reuse_settings(run.record.id)

    # ------------------------------------------------------------- menus

    def run_menu(self) -> QMenu:
        """Make the menu of the chosen runs."""
        runs = self._table.chosen_runs()
        one, several, pair = len(runs) == 1, len(runs) > 1, len(runs) == 2
        menu = QMenu(self._table)
        menu.setObjectName("run_menu")
        _add(menu, "menu_rename", "&Rename\tF2", self._table.rename, one)
        _add(menu, "menu_notes", "&Notes…", self._edit_notes, one)
        colours = menu.addMenu("&Colour")
        for k in range(_COLOURS):
            made = _add(colours, f"menu_colour_{k + 1}", f"Colour {k + 1}", partial(self.colour, k))
            made.setIcon(swatch(RunLook("", k), MARKER))
        menu.addSeparator()
        _add(menu, "menu_check", "Chec&k", lambda: self.check(runs, True))
        _add(menu, "menu_uncheck", "&Uncheck", lambda: self.check(runs, False))
        only = "Check &only these" if several else "Check &only this"
        _add(menu, "menu_check_only", only, self.check_only)
        menu.addSeparator()
        _add(menu, "menu_reuse", "Use these &settings", self.reuse, one)
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
            made = _add(menu, f"list_group_{key or 'none'}", title, partial(self._group, key))
            made.setCheckable(True)
            made.setChecked(self._model.order.group == key)
        menu.addSeparator()
        self._table.fill_column_menu(menu.addMenu("C&olumns"))

    def _offer_combination(self, menu: QMenu, name: str) -> None:
        made = _add(menu, name, "Com&bine checked runs", self._session.runs.combine_checked)
        menu.setToolTipsVisible(True)
        offer_combination(made, self._session)

    def _group(self, key: str) -> None:
        self._model.set_order(group=key)
        self._table.layout_changed.emit()


def _add(
    menu: QMenu, name: str, text: str, verb: Callable[[], object], enabled: bool = True
) -> QAction:
    action = make_action(menu, name, text, verb=verb)
    action.setEnabled(enabled)
    return action
