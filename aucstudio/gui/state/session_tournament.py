"""Find the best: asked for, stopped, and what came of it taken in among the runs of a study."""

from __future__ import annotations

import dataclasses
import functools

from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session_running import SessionRunning
from aucstudio.gui.state.study import Study
from aucstudio.project.errors import InputError
from aucstudio.project.results.choosing import Target
from aucstudio.project.results.summary import WHOLE
from aucstudio.project.runs.experiments.experiment import Band, DataReference, check_band
from aucstudio.project.runs.experiments.planning import plan_experiment
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.tournament.standings import FAILED, RUNNING, Standing, Standings


class SessionTournament(SessionRunning):
    """The tournament of the open study, and of those that were left while one was held."""

    def _attend(self, study: Study) -> None:
        super()._attend(study)
        held = study.tournament
        held.changed.connect(functools.partial(self._on_runner, study))
        held.changed.connect(self.tournament_changed)
        held.failed.connect(self.failed)
        held.judged.connect(functools.partial(self._take_judged, study))
        held.ended.connect(functools.partial(self._take_standings, study))

    def find_best(self, band: Band, minutes: float) -> None:
        """Begin to look for the best model, in the range and the time that one can afford.

        Raises
        ------
        InputError
            If the rows do not allow for it, or one is under way.
        """
        from aucstudio.project.tournament.background import TournamentOrder
        from aucstudio.project.tournament.hold_out import (
            check_table,
            draw,
            held_out_once,
            inner_folds,
        )

        table, plan = self.table, self.plan
        if table is None:
            raise InputError("open a table first", setting="data")
        if self.study.tournament.busy:
            raise InputError("a search for the best model is already running")
        check_table(table)
        check_band(band)
        DataReference.to_table(table)  # it refuses what no run can be made of
        validation, folds = held_out_once(plan.validation), inner_folds(plan.validation)
        if table.rows <= _QUICKLY_DRAWN:  # of more rows there are enough
            draw(table, validation, folds)
        fpr_range = None if band == WHOLE else band
        if fpr_range is not None:
            self.set_band(*band)
        seconds = 60.0 * minutes
        order = TournamentOrder(
            table, validation, fpr_range, seconds, plan.preparation, folds=folds
        )
        self.study.tournament.begin(order)

    def stop(self) -> None:
        """Stop all runs, those that wait too, and tournaments."""
        super().stop()
        for study in (self.study, *self.left):
            study.tournament.stop()

    def tournaments(self) -> list[Standings]:
        """List how the tournaments of the study stand, the latest first."""
        live = self.study.tournament.live
        kept = sorted(self.study.home.standings.values(), key=lambda one: one.key)
        ended = [
            one.broken_off(FAILED, "it broke off") if one.ended == RUNNING else one
            for one in reversed(kept)
            if live is None or one.key != live.key
        ]
        return ended if live is None else [live, *ended]

    def stop_tournament(self) -> None:
        """End the tournament of the open study with what is ready; at once if asked again."""
        self.study.tournament.stop()

    def take(self, run: str, standings: Standings) -> None:
        """Choose a run of a tournament with the threshold for its range; listed, undoably."""
        look = self.plan.looks.get(run)
        if run in self.records and (look is None or look.removed):
            looks = {**self.plan.looks, run: self._listed(self.study, self.records[run])}
            self.edit(dataclasses.replace(self.plan, looks=looks), "List a run")
        elif look is not None and not look.visible:
            self.set_look(run, "Check a run", visible=True)
        self._choose(run, standings)

    def _choose(self, run: str, standings: Standings) -> None:
        self.select(run)
        if standings.fpr_range is not None:
            self.point_at(target=Target("fpr", standings.fpr_range[1]))

    def run_entry(self, standings: Standings, entry: Standing) -> None:
        """Start, or queue, the run of an entry that was not judged.

        Raises
        ------
        InputError, InvalidSetting
            If it cannot be run.
        """
        if self.table is None:
            raise InputError("open the table first", setting="data")
        planned = plan_experiment(
            DataReference.to_table(self.table),
            entry.method,
            entry.params,
            standings.validation,
            standings.fpr_range or self.plan.band,
            preparation=standings.preparation,
        )
        self._queue([planned])

    # ------------------------------------------------------------- taking in

    def _listed(self, study: Study, record: RunRecord) -> RunLook:
        return study.plan.free_look(record.experiment.title, study.runner.taken_looks())

    def _take_judged(self, study: Study, record: RunRecord) -> None:
        study.records.setdefault(record.id, record)

    def _take_standings(self, study: Study, standings: Standings) -> None:
        """List the best run and the simplest that is not told apart from it, and hide the others.

        What somebody listed already stays as it is.
        """
        wanted = standings.simpler, standings.best
        judged = [one.run for one in standings.entries if one.run in study.records]
        follows = study.follows
        for run in sorted(judged, key=lambda run: run in wanted):
            look = study.plan.looks.get(run)
            title = study.records[run].experiment.title
            if run in wanted and (look is None or look.removed):
                rest = {k: v for k, v in study.plan.looks.items() if k != run}
                self._put_looks(study, {**rest, run: self._listed(study, study.records[run])})
            elif look is None:
                hidden = RunLook(title, 0, visible=False, removed=True)
                self._put_looks(study, {**study.plan.looks, run: hidden})
        if study is self.study and follows and standings.best in self.records:
            self._choose(standings.best, standings)
        where = "" if study is self.study else f" of {study.name}"
        self.told.emit(f"The tournament{where} ended. {self.status}")
        unsaved = [study.home.unsaved[run] for run in judged if run in study.home.unsaved]
        for sentence in unsaved[:1]:
            self.failed.emit(sentence, "")

    def _put_looks(self, study: Study, looks: dict[str, RunLook]) -> None:
        """Show runs of a study so; not an edit, for undo must never take a finished run away."""
        plan = dataclasses.replace(study.plan, looks=looks)
        if study is self.study:
            self.put_plan(plan)
            return
        study.plan = plan
        if study.home.file is not None:
            self._keeper.write(study, study.home.file, study.document())


_QUICKLY_DRAWN = 2_000  # rows, that are parted within a frame
