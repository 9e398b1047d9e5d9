"""The session: the open study and the actions on it."""

from __future__ import annotations

from PySide6.QtCore import QObject

from aucstudio.gui.state.session_files import StudyFiles
from aucstudio.gui.state.session_runs import FindBest, Runs
from aucstudio.gui.state.session_state import SessionState
from aucstudio.gui.state.study import ShownRun, StudyState
from aucstudio.project.work.submit import Place

__all__ = ["Session", "ShownRun", "StudyState"]


class Session(SessionState):
    """State of one window.

    Files are opened and saved on threads, so that the window never waits. Methods named
    ``begin_…`` return at once; the others return when the work is done, for scripts.

    Parameters
    ----------
    parent : QObject, optional
    place : Place, optional
        Where runs are made; by default on a thread of this process.

    Attributes
    ----------
    files : StudyFiles
        Opens, saves and closes studies.
    runs : Runs
        Starts, queues and stops runs.
    best : FindBest
        Searches for the best model.
    """

    def __init__(self, parent: QObject | None = None, place: Place | None = None) -> None:
        super().__init__(parent)
        self.runs = Runs(self, place)
        self.best = FindBest(self, self.runs)
        self.files = StudyFiles(self, self.runs)
        self.swap(self.study)

    @property
    def busy(self) -> bool:
        """Whether something can be stopped: a run, a search, or a file being read or saved."""
        return self.trains or self.files.opener.busy or self.files.saver.busy

    def stop(self) -> None:
        """Stop everything: runs, the queue, searches, and files being read or saved."""
        self.files.opener.cancel()
        self.files.saver.stop()
        self.runs.stop()

    def close(self) -> None:
        """Stop everything and write the plan; this takes a second at most, plus a save."""
        self.files.opener.cancel()
        self.runs.stop()
        for study in self.studies:
            study.runner.finish()
            study.tournament.finish()
        self.files.close()
        self.keep_plan()
        self.keeper.close()
        self.runs.cluster.close()
