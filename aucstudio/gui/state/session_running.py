"""Runs of a session: asked for, queued, stopped, and taken in by the study they belong to."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

from PySide6.QtCore import QObject

from aucstudio.engine.params import InvalidSetting
from aucstudio.gui.state.cluster_link import ClusterLink
from aucstudio.gui.state.live import LiveRun
from aucstudio.gui.state.preferences import preferences
from aucstudio.gui.state.runner import Waiting
from aucstudio.gui.state.session_editing import SessionEditing
from aucstudio.gui.state.study import ShownRun, Study
from aucstudio.project.data.score_file import Joined
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.results.summary import work_out
from aucstudio.project.runs.estimate import check_size, check_size_at_once
from aucstudio.project.runs.experiments.experiment import DataReference, Experiment
from aucstudio.project.runs.experiments.planning import PlannedRun, plan_experiment
from aucstudio.project.runs.given_scores import MARKER, joinable, scored_by, with_score_file
from aucstudio.project.runs.grouping import check_groups
from aucstudio.project.runs.record import FAILED, RunRecord, find_twin
from aucstudio.project.runs.tuning import Tuning
from aucstudio.project.work.cluster_runs import Spread
from aucstudio.project.work.place import Here, Place
from aucstudio.project.work.submit import Outcome, RunTask, submit


def _named(runs: Sequence[ShownRun]) -> list[tuple[str, RunRecord]]:
    return [(run.look.name, run.record) for run in runs]


class SessionRunning(SessionEditing):
    """Runs of the open study, and of those that were left while they had runs under way."""

    def __init__(self, parent: QObject | None = None, place: Place | None = None) -> None:
        super().__init__(parent)
        self._place = place or Here()
        self.cluster = ClusterLink(self)
        self.left: list[Study] = []
        """Studies that are no longer open, with runs under way."""

    def _attend(self, study: Study) -> None:
        """Subscribe to the runs of a study."""
        study.setParent(self)
        runner = study.runner
        runner.at_once = self._place.at_once
        runner.obey(study.home, functools.partial(self._begin, study), self._fits)
        runner.changed.connect(functools.partial(self._on_runner, study))
        runner.failed.connect(self.failed)
        runner.ended.connect(functools.partial(self._take_in, study))

    @property
    def trains(self) -> bool:
        """Whether a run is in progress or waits, of this study or of one that was left.

        A tournament counts among them.
        """
        return any(study.busy for study in (self.study, *self.left))

    def study_of(self, live: LiveRun) -> Study:
        """Return the study that a run in progress belongs to."""
        found = (study for study in self.left if live in study.runner.flights)
        return next(found, self.study)

    # ------------------------------------------------------------- asking for runs

    def run_planned(self, *, tuned: bool = False) -> None:
        """Start, or queue, a run of what the form says; see :meth:`run_methods`."""
        self.run_methods([self.plan.method], tuned=tuned)

    def run_methods(self, methods: Sequence[str], *, tuned: bool = False) -> None:
        """Start, or queue, a run of each method on the same splits, with the plan's settings.

        Parameters
        ----------
        methods : sequence of str
            Their ids.
        tuned : bool
            Whether settings are searched first, by the plan's measure.

        Raises
        ------
        InputError, InvalidSetting
            If one of them cannot be run; nothing is started.
        """
        self.start([self.planned(method, tuned=tuned) for method in methods])

    def start(self, experiments: Sequence[Experiment]) -> None:
        """Start, or queue, planned runs; their methods are remembered as the last ones used."""
        self._queue(experiments)
        for experiment in reversed(experiments):
            preferences().note_method(experiment.method)

    def planned(self, method: str = "", *, tuned: bool = False) -> Experiment:
        """Return the experiment that the form asks for, of the chosen method or of another.

        Raises
        ------
        InputError, InvalidSetting
            If it cannot be run.
        """
        if self.table is None:
            raise InputError("open a table first", setting="data")
        data, plan = DataReference.to_table(self.table), self.plan
        method = method or plan.method
        tuning = Tuning(plan.tune_by, seed=plan.validation.seed) if tuned else None
        experiment = plan_experiment(
            data,
            method,
            plan.settings(method),
            plan.validation,
            plan.band,
            tuning,
            plan.preparation,
        )
        check_size(experiment, self.table)
        check_groups(plan.validation, self.table)
        return experiment

    def run_scores(self, column: str, direction: str) -> None:
        """Start, or queue, the run of a column's scores on the splits of the plan.

        Parameters
        ----------
        column : str
        direction : str
            A choice of the method's setting of that name.

        Raises
        ------
        InputError
            If the column cannot be a score, or the rows cannot be split so.
        """
        if self.table is None:
            raise InputError("open a table first", setting="data")
        data, plan = DataReference.to_table(scored_by(self.table, column)), self.plan
        settings = {"direction": direction}
        planned = plan_experiment(data, MARKER, settings, plan.validation, plan.band)
        check_groups(plan.validation, self.table)
        self._queue([dataclasses.replace(planned, name=column)])

    def run_joined_scores(self, joined: Joined, direction: str) -> None:
        """Start, or queue, the run of scores that a file gave, on the splits of the plan.

        Raises
        ------
        InputError
            If the plan tests on another file, or the rows cannot be split so.
        """
        plan, name = self.plan, joined.scores.name
        table = joinable(joined.table, plan.validation)
        data = DataReference.to_table(scored_by(table, name))
        settings = {"direction": direction}
        planned = plan_experiment(data, MARKER, settings, plan.validation, plan.band)
        check_groups(plan.validation, table)
        planned = dataclasses.replace(planned, name=name)
        self._queue([with_score_file(planned, joined.scores)], table)

    def why_not_combined(self) -> str:
        """Explain why the checked runs cannot be combined; nothing if they can."""
        if self.table is None:
            return "the table of these runs is not open"
        from aucstudio.project.combination.planning import why_not

        return why_not(_named(self.checked_runs()))

    def combine_checked(self) -> None:
        """Start, or queue, the combination of the checked runs; what is wrong with them is told."""
        from aucstudio.project.combination.planning import plan_combination

        plan = self.plan
        try:
            experiment = plan_combination(_named(self.checked_runs()), plan.band, plan.band)
        except InputError as error:
            self.failed.emit(f"No combination: {error}", "")
            return
        self._queue([experiment])

    def twin_of(self, experiment: Experiment) -> ShownRun | None:
        """Return the run of the list whose scores an experiment would give again, if any."""
        same = find_twin(experiment, (run.record for run in self.shown_runs()))
        return None if same is None else self.run(same.id)

    def _queue(self, experiments: Sequence[Experiment], table: Table | None = None) -> None:
        table = table or self.table
        assert table is not None
        runner = self.study.runner
        for experiment in experiments:
            look = self.plan.free_look(experiment.title, runner.taken_looks())
            runner.add(Waiting(experiment, look, table))
        runner.start_next()

    def run_at_once(self, count: int) -> None:
        """Set how many runs train at a time, from the next one on."""
        self._place.at_once = count
        for study in (self.study, *self.left):
            study.runner.at_once = count
            study.runner.start_next()

    # ------------------------------------------------------------- stopping

    def stop_run(self, live: LiveRun | None = None) -> None:
        """Stop one run, or the first one in progress; its finished splits are kept.

        Where there is none, a tournament is asked to end with what is ready.

        The others go on, and the next one in the queue begins.
        """
        studies = self.study, *self.left
        flying = [one for study in studies for one in study.runner.flights]
        wanted = live or next(iter(flying), None)
        if wanted is not None:
            self.study_of(wanted).runner.stop(wanted)
        else:
            for held in [study.tournament for study in studies if study.tournament.busy][:1]:
                held.stop()

    def cancel(self, waiting: Waiting) -> None:
        """Take a run out of the queue."""
        self.study.runner.cancel(waiting)

    def move(self, waiting: Waiting, *, up: bool) -> None:
        """Move a run in the queue by one place."""
        self.study.runner.move(waiting, -1 if up else 1)

    def stop(self) -> None:
        """Stop all runs, those that wait too, of this study and of those that were left."""
        for study in (self.study, *self.left):
            study.runner.queue.clear()
            study.runner.stop()

    # ------------------------------------------------------------- beginning and ending

    def _begin(self, study: Study, plan: PlannedRun, live: LiveRun) -> RunTask:
        if study is self.study:
            self._flush.start()  # its project may just have been made
        return submit(plan, self._place_of(study, plan.experiment), live.home, work_out)

    def _place_of(self, study: Study, experiment: Experiment) -> Place:
        """Return the place that a run is made in."""
        if experiment.members:
            from aucstudio.project.combination.combining import Combining

            looks, made = study.plan.looks, study.records.items()
            return Combining([(looks[run].name, one) for run, one in made if run in looks])
        workers = self.cluster.workers
        return self._place if workers is None else Spread(workers)

    def _fits(self, waiting: Waiting, beside: Sequence[Experiment]) -> bool:
        """Return whether a run fits in memory beside others."""
        if self.cluster.workers is not None or waiting.experiment.members:
            return True
        together = [waiting.experiment, *beside]
        try:
            check_size_at_once(together, waiting.table, len(together))
        except (InputError, InvalidSetting):
            return False
        return True

    def _on_runner(self, study: Study) -> None:
        ended = not study.busy and not study.home.unsaved  # else closing has yet to ask
        if study is not self.study and ended and study in self.left:
            self.left.remove(study)
            study.deleteLater()
        self.live_changed.emit()

    def _take_in(self, study: Study, outcome: Outcome, live: LiveRun) -> None:
        record = outcome.record
        unsaved = outcome.unsaved or study.home.unsaved.get(record.id, "")
        if record.status == FAILED:
            self.failed.emit(f"{live.look.name} failed: {record.error}", record.traceback)
        if unsaved:
            self.failed.emit(unsaved, "")
        look = dataclasses.replace(live.look, visible=record.status != FAILED)
        study.records[record.id] = record
        looks = {**study.plan.looks, record.id: look}
        if study is not self.study:
            # It is in its own file, and its name and colour are to be found there with it.
            study.plan = dataclasses.replace(study.plan, looks=looks)
            if study.home.file is not None:
                self._keeper.write(study, study.home.file, study.document())
            self.told.emit(f"{look.name} ended in {study.name}")
            return
        # Not an edit: undo must never take a finished run away.
        follows = study.follows
        self.put_plan(dataclasses.replace(self.plan, looks=looks))
        if follows:
            self.select(record.id)
        self.told.emit(self.status if follows else f"{look.name} ended. {self.status}")
