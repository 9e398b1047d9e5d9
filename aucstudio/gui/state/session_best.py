"""Search for the best model: start, stop, and list the results among the runs of a study."""

from __future__ import annotations

import dataclasses
import functools

from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session_runs import Runs
from aucstudio.gui.state.session_state import SessionState
from aucstudio.gui.state.study import Study
from aucstudio.project.errors import InputError
from aucstudio.project.results.summary import WHOLE
from aucstudio.project.results.thresholds import Target
from aucstudio.project.runs.experiments.experiment import Band, DataReference, check_band
from aucstudio.project.runs.experiments.planning import plan_experiment
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.tournament.standings import FAILED, RUNNING, Standing, Standings

_QUICKLY_DRAWN = 2_000  # rows that are split within a frame


class FindBest:
    """The search for the best model of the open study, and of closed ones that still search.

    Parameters
    ----------
    session : SessionState
    runs : Runs
    """

    def __init__(self, session: SessionState, runs: Runs) -> None:
        self._session, self._runs = session, runs
        session.watchers.append(self.watch)

    def watch(self, study: Study) -> None:
        """Subscribe to the searches of a study."""
        held = study.tournament
        held.changed.connect(functools.partial(self._runs.on_moved, study))
        held.changed.connect(lambda: self._session.notify({"best"}))
        held.failed.connect(self._session.failed)
        held.judged.connect(lambda record: study.records.setdefault(record.id, record))
        held.ended.connect(functools.partial(self._take_standings, study))

    def begin(self, band: Band, minutes: float) -> None:
        """Start the search for the best model in an FPR range and within a time limit.

        Raises
        ------
        InputError
            If the rows do not suffice, or a search is running.
        """
        from aucstudio.project.tournament.background import TournamentOrder
        from aucstudio.project.tournament.search import (
            check_table,
            draw,
            held_out_once,
            inner_folds,
        )

        session = self._session
        table, plan = session.table, session.plan
        if table is None:
            raise InputError("open a table first", setting="data")
        if session.study.tournament.busy:
            raise InputError("a search for the best model is already running")
        check_table(table)
        check_band(band)
        DataReference.to_table(table)  # refuses tables on which no run is possible
        validation, folds = held_out_once(plan.validation), inner_folds(plan.validation)
        if table.rows <= _QUICKLY_DRAWN:  # larger tables have enough rows
            draw(table, validation, folds)
        fpr_range = None if band == WHOLE else band
        if fpr_range is not None:
            session.set_band(*band)
        seconds = 60.0 * minutes
        order = TournamentOrder(
            table, validation, fpr_range, seconds, plan.preparation, folds=folds
        )
        session.study.tournament.begin(order)

    def standings(self) -> list[Standings]:
        """Return the searches of the study, latest first."""
        study = self._session.study
        live = study.tournament.live
        kept = sorted(study.home.standings.values(), key=lambda one: one.key)
        ended = [
            one.broken_off(FAILED, "it ended unexpectedly") if one.ended == RUNNING else one
            for one in reversed(kept)
            if live is None or one.key != live.key
        ]
        return ended if live is None else [live, *ended]

    def take(self, run: str, standings: Standings) -> None:
        """Select a run of a search with the threshold for its range; list it with undo."""
        session = self._session
        look, looks = session.plan.looks.get(run), session.plan.looks
        if run in session.records and (look is None or look.removed):
            looks = {**looks, run: _listed(session.study, session.records[run])}
            session.edit(dataclasses.replace(session.plan, looks=looks), "List a run")
        elif look is not None and not look.visible:
            session.set_look(run, "Check a run", visible=True)
        self._choose(run, standings)

    def _choose(self, run: str, standings: Standings) -> None:
        self._session.select(run)
        if standings.fpr_range is not None:
            self._session.point_at(target=Target("fpr", standings.fpr_range[1]))

    def run_entry(self, standings: Standings, entry: Standing) -> None:
        """Start or queue the run of an entry that was not tested.

        Raises
        ------
        InputError, InvalidSetting
            If it cannot be run.
        """
        table = self._session.table
        if table is None:
            raise InputError("open the table first", setting="data")
        planned = plan_experiment(
            DataReference.to_table(table),
            entry.method,
            entry.params,
            standings.validation,
            standings.fpr_range or self._session.plan.band,
            preparation=standings.preparation,
        )
        self._runs.queue([planned])

    def _take_standings(self, study: Study, standings: Standings) -> None:
        """List the best run and the simplest that is not significantly worse; hide the others.

        Runs that the user has listed stay as they are.
        """
        session, shown = self._session, (standings.simpler, standings.best)
        judged = [one.run for one in standings.entries if one.run in study.records]
        follows = study.follows
        for run in sorted(judged, key=lambda run: run in shown):
            looks = study.plan.looks
            look, title = looks.get(run), study.records[run].experiment.title
            if run in shown and (look is None or look.removed):
                rest = {k: v for k, v in looks.items() if k != run}
                session.put_looks(study, {**rest, run: _listed(study, study.records[run])})
            elif look is None:
                hidden = RunLook(title, 0, visible=False, removed=True)
                session.put_looks(study, {**looks, run: hidden})
        if study is session.study and follows and standings.best in study.records:
            self._choose(standings.best, standings)
        where = "" if study is session.study else f" of {study.name}"
        session.message.emit(f"The search{where} ended. {session.study.status}")
        unsaved = [study.home.unsaved[run] for run in judged if run in study.home.unsaved]
        for sentence in unsaved[:1]:
            session.failed.emit(sentence, "")


def _listed(study: Study, record: RunRecord) -> RunLook:
    return study.plan.free_look(record.experiment.title, study.runner.taken_looks())
