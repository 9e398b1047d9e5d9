"""Start, queue and stop the runs of a session, and search for the best model."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

from aucstudio.engine.params import InvalidSetting
from aucstudio.gui.state.cluster_link import ClusterLink
from aucstudio.gui.state.plan import Plan, RunLook
from aucstudio.gui.state.preferences import preferences
from aucstudio.gui.state.runner import LiveRun, Waiting
from aucstudio.gui.state.session_state import SessionState
from aucstudio.gui.state.study import ShownRun, StudyState
from aucstudio.notices import text
from aucstudio.project.data.score_file import Joined
from aucstudio.project.data.table import Table
from aucstudio.project.data.validation import Validation, require_enough
from aucstudio.project.errors import InputError
from aucstudio.project.results.summary import WHOLE, compute_figures
from aucstudio.project.results.thresholds import Target
from aucstudio.project.runs.estimate import check_size_at_once
from aucstudio.project.runs.experiment import (
    MARKER,
    Band,
    DataReference,
    Experiment,
    require_band,
)
from aucstudio.project.runs.planning import (
    PlannedRun,
    check_groups,
    joinable,
    plan_on,
    scored_by,
)
from aucstudio.project.runs.record import FAILED, STOPPED, RunRecord, find_twin
from aucstudio.project.runs.tuning import Tuning
from aucstudio.project.tournament.standings import FAILED as FAILED_TO_END
from aucstudio.project.tournament.standings import RUNNING, Standing, Standings
from aucstudio.project.work.parallel import ClusterPlace
from aucstudio.project.work.submit import Here, Outcome, Place, RunTask, submit


def _named(runs: Sequence[ShownRun]) -> list[tuple[str, RunRecord]]:
    return [(run.look.name, run.record) for run in runs]


class Runs:
    """Runs of the open study, and of closed studies with running work.

    Parameters
    ----------
    session : SessionState
    place : Place, optional
        Where runs are made; by default on a thread of this process.

    Attributes
    ----------
    cluster : ClusterLink
    """

    def __init__(self, session: SessionState, place: Place | None = None) -> None:
        self._session, self._place = session, place or Here()
        session.study_shown.connect(self.watch)
        self.cluster = ClusterLink(session)

    def watch(self, study: StudyState) -> None:
        """Subscribe to the runs of a study."""
        runner = study.runner
        runner.at_once = self._place.at_once
        runner.configure(functools.partial(self._begin, study), self._fits)
        runner.changed.connect(functools.partial(self.on_moved, study))
        runner.failed.connect(self._session.failed)
        runner.ended.connect(functools.partial(self._on_ended, study))

    # ------------------------------------------------------------- requesting runs

    def run_again(self, records: Sequence[RunRecord]) -> None:
        """Start or queue runs on the open table with the settings of earlier ones.

        Raises
        ------
        InputError, InvalidSetting
            If one of them cannot be run, or all have been made; nothing is started.
        """
        plan = self._session.plan
        self.start_new(
            [
                self.planned(plan=plan.set_as(one), tuned=one.experiment.tuning is not None)
                for one in records
            ]
        )

    def start_new(self, experiments: Sequence[Experiment]) -> None:
        """Start or queue the planned runs that no listed run equals, and name the others.

        Raises
        ------
        InputError
            If there are no others.
        """
        twins = [self.twin_of(experiment) for experiment in experiments]
        made = [twin.look.name for twin in twins if twin is not None]
        words = text("made_already", names=made, count=len(made)) if made else ""
        if len(made) == len(twins):
            raise InputError(words)
        self.start([one for one, twin in zip(experiments, twins, strict=True) if twin is None])
        self._session.message.emit(words)

    def start(self, experiments: Sequence[Experiment]) -> None:
        """Start or queue planned runs; their methods become the recent ones."""
        self.queue(experiments)
        for experiment in reversed(experiments):
            preferences().note_method(experiment.method)

    def planned(
        self, method: str = "", *, tuned: bool = False, plan: Plan | None = None
    ) -> Experiment:
        """Return the experiment of the form or another plan, with its method or another one.

        Raises
        ------
        InputError, InvalidSetting
            If it cannot be run.
        """
        table, plan = self.table(), plan or self._session.plan
        method = method or plan.method
        tuning = Tuning(plan.tune_by, seed=plan.validation.seed) if tuned else None
        how = plan.settings(method), plan.validation, plan.band, tuning, plan.preparation
        experiment = plan_on(table, method, *how)
        check_groups(plan.validation, table)
        return experiment

    def run_scores(self, direction: str, column: str = "", joined: Joined | None = None) -> None:
        """Start or queue the run of given scores, from a column or a file, on the plan's splits.

        Parameters
        ----------
        direction : str
            A choice of the setting of that name.
        column : str
            A column of the table.
        joined : Joined, optional
            Or the scores of a file.

        Raises
        ------
        InputError
            If the column is no score, the plan tests on another file, or the rows cannot be split.
        """
        plan, table = self._session.plan, self.table()
        if joined is not None:
            column, table = joined.scores.name, joinable(joined.table, plan.validation)
        settings = {"direction": direction}
        planned = plan_on(scored_by(table, column), MARKER, settings, plan.validation, plan.band)
        check_groups(plan.validation, table)
        planned = dataclasses.replace(planned, name=column)
        self.queue([planned if joined is None else planned.with_score_file(joined.scores)], table)

    def why_not(self, validation: Validation | None = None) -> str:
        """Return why no run can succeed on the table under a scheme; empty if one can."""
        table = self._session.table
        if table is None:
            return "open a table first"
        try:
            table.require_two_classes()
            if validation is not None:
                positives = table.classes[table.positive or ""]
                negatives = sum(table.classes.values()) - positives
                require_enough(min(positives, negatives), validation)
        except InputError as error:
            return str(error)
        return ""

    def why_not_combined(self) -> str:
        """Return why the checked runs cannot be combined; empty if they can."""
        if self._session.table is None:
            return "the table of these runs is not open"
        from aucstudio.project.combination.planning import why_not

        return why_not(_named(self._session.checked_runs()))

    def combine_checked(self) -> None:
        """Start or queue the combination of the checked runs; report errors."""
        from aucstudio.project.combination.planning import plan_combination

        plan = self._session.plan
        try:
            experiment = plan_combination(
                _named(self._session.checked_runs()), plan.band, plan.band
            )
        except InputError as error:
            self._session.failed.emit(f"Cannot combine the runs: {error}", "")
            return
        self.queue([experiment])

    def twin_of(self, experiment: Experiment) -> ShownRun | None:
        """Return the listed run with the scores that an experiment would give, if any."""
        same = find_twin(experiment, (run.record for run in self._session.shown_runs()))
        return None if same is None else self._session.run(same.id)

    def table(self) -> Table:
        """Return the open table; InputError without one."""
        if self._session.table is None:
            raise InputError("open a table first", setting="data")
        return self._session.table

    def queue(self, experiments: Sequence[Experiment], table: Table | None = None) -> None:
        """Start or queue runs on a table, by default the open one."""
        table, study = table or self.table(), self._session.study
        titles = [experiment.title for experiment in experiments]
        looks = study.plan.free_looks(titles, study.runner.taken_looks())
        for experiment, look in zip(experiments, looks, strict=True):
            study.awaited = look
            study.runner.add(Waiting(experiment, look, table))
        study.runner.start_next()

    def run_at_once(self, count: int) -> None:
        """Set how many runs train at once."""
        self._place.at_once = count
        for study in self._session.studies:
            study.runner.at_once = count
            study.runner.start_next()

    def stop(self) -> None:
        """Stop all runs, the queue and searches, in all studies."""
        for study in self._session.studies:
            study.runner.queue.clear()
            study.runner.stop()
            study.tournament.stop()

    # ------------------------------------------------------------- starting and ending

    def _begin(self, study: StudyState, waiting: Waiting) -> RunTask:
        if study is self._session.study:
            self._session.keep_soon.start()  # the project may be new
        plan = PlannedRun(waiting.experiment, waiting.table, None)
        return submit(plan, self._place_of(study, plan.experiment), study.home, compute_figures)

    def _place_of(self, study: StudyState, experiment: Experiment) -> Place:
        """Return where a run is made."""
        if experiment.members:
            from aucstudio.project.combination.combining import Combining

            looks, made = study.plan.looks, study.records.items()
            return Combining([(looks[run].name, one) for run, one in made if run in looks])
        workers = self.cluster.workers
        return self._place if workers is None else ClusterPlace(workers)

    def _fits(self, waiting: Waiting, beside: Sequence[Experiment]) -> bool:
        """Return whether a run fits in memory together with others."""
        if self.cluster.workers is not None or waiting.experiment.members:
            return True
        together = [waiting.experiment, *beside]
        try:
            check_size_at_once(together, waiting.table, len(together))
        except (InputError, InvalidSetting):
            return False
        return True

    def on_moved(self, study: StudyState) -> None:
        """Notify listeners of a change of runs; delete a closed study that has finished."""
        session = self._session
        ended = not study.busy and not study.home.unsaved  # about which closing asks
        if ended and study in session.left:
            session.left.remove(study)
            study.deleteLater()
        session.notify({"live"})

    def _on_ended(self, study: StudyState, outcome: Outcome, live: LiveRun) -> None:
        session, record = self._session, outcome.record
        unsaved = outcome.unsaved or study.home.unsaved.get(record.id, "")
        if record.status == FAILED:
            session.failed.emit(f"{live.look.name} failed: {record.error}", record.traceback)
        if unsaved:
            session.failed.emit(unsaved, "")
        look = dataclasses.replace(live.look, visible=record.status != FAILED)
        study.records[record.id] = record
        session.put_looks(study, {**study.plan.looks, record.id: look})
        did = "was stopped" if record.status == STOPPED else "ended"
        if study is not session.study:
            session.message.emit(f"{look.name} {did} in {study.name}")
            return
        if study.awaited is live.look:
            session.select(record.id)
        is_shown = study.selected == record.id
        session.message.emit(study.status if is_shown else f"{look.name} {did}. {study.status}")


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
        session.study_shown.connect(self.watch)

    def watch(self, study: StudyState) -> None:
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
        from aucstudio.project.tournament.search import (
            SearchRequest,
            check_searchable,
            draw_held_out,
            held_out_once,
            inner_folds,
        )

        session = self._session
        table, plan = self._runs.table(), session.plan
        if session.study.tournament.busy:
            raise InputError("a search for the best model is already running")
        check_searchable(table)
        require_band(band)
        DataReference.to_table(table)  # refuses tables on which no run is possible
        validation, folds = held_out_once(plan.validation), inner_folds(plan.validation)
        if table.rows <= _QUICKLY_DRAWN:  # larger tables have enough rows
            draw_held_out(table, validation, folds)
        fpr_range = None if band == WHOLE else band
        if fpr_range is not None:
            session.set_band(*band)
        seconds = 60.0 * minutes
        given = table, validation, fpr_range, seconds, plan.preparation
        order = SearchRequest(*given, folds=folds, earlier=self.standings())
        session.study.awaited = session.study.tournament
        session.study.tournament.begin(order)

    def standings(self) -> list[Standings]:
        """Return the searches of the study, latest first."""
        study = self._session.study
        live = study.tournament.live
        kept = sorted(study.home.standings.values(), key=lambda one: one.key)
        ended = [
            one.broken_off(FAILED_TO_END, "it ended unexpectedly") if one.ended == RUNNING else one
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
        self.choose(run, standings)

    def choose(self, run: str, standings: Standings) -> None:
        """Select a run of a search with the threshold for its range."""
        self._session.select(run)
        target, record = Target("fpr", standings.rule.fpr), self._session.records[run]
        self._session.put_plan(self._session.plan.with_target(record, target))

    def repeat(self, standings: Standings, entry: Standing) -> None:
        """Start or queue the run of an entry with the validation of the study.

        If a run of its method has this validation already, it gets another seed.

        Raises
        ------
        InputError, InvalidSetting
            If it cannot be run.
        """
        made = [record.experiment for record in self._session.records.values()]
        had = [one.validation for one in made if one.method == entry.method]
        validation = self._session.plan.validation
        if validation in had:
            seed = max(one.seed + one.repeats for one in had)  # repeats use consecutive seeds
            validation = dataclasses.replace(validation, seed=seed)
        self.run_entry(dataclasses.replace(standings, validation=validation), entry)

    def run_entry(self, standings: Standings, entry: Standing) -> None:
        """Start or queue the run of an entry.

        Raises
        ------
        InputError, InvalidSetting
            If it cannot be run.
        """
        plan = dataclasses.replace(
            self._session.plan,
            method=entry.method,
            params={entry.method: entry.params},
            validation=standings.validation,
            band=standings.fpr_range or self._session.plan.band,
            preparation=standings.preparation,
        )
        self._runs.queue([self._runs.planned(plan=plan)])

    def _take_standings(self, study: StudyState, standings: Standings) -> None:
        """List the best run and the simplest that is not significantly worse; hide the others.

        Runs that the user has listed stay as they are.
        """
        session, shown = self._session, (standings.simpler, standings.best)
        judged = [one.run for one in standings.entries if one.run in study.records]
        for run in sorted(judged, key=lambda run: run in shown):
            looks = study.plan.looks
            look, title = looks.get(run), study.records[run].experiment.title
            if run in shown and (look is None or look.removed):
                rest = {k: v for k, v in looks.items() if k != run}
                session.put_looks(study, {**rest, run: _listed(study, study.records[run])})
            elif look is None:
                hidden = RunLook(title, 0, visible=False, removed=True)
                session.put_looks(study, {**looks, run: hidden})
        awaited = study is session.study and study.awaited is study.tournament
        if awaited and standings.best in study.records:
            self.choose(standings.best, standings)
        where = "" if study is session.study else f" of {study.name}"
        session.message.emit(f"The search{where} ended. {session.study.status}")
        unsaved = [study.home.unsaved[run] for run in judged if run in study.home.unsaved]
        for sentence in unsaved[:1]:
            session.failed.emit(sentence, "")


def _listed(study: StudyState, record: RunRecord) -> RunLook:
    return next(study.plan.free_looks([record.experiment.title], study.runner.taken_looks()))
