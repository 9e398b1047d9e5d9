"""Plans in project files: written in order, merged, validated."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from aucstudio.engine import METHODS
from aucstudio.engine.params import InvalidSetting, declared_params
from aucstudio.gui.state.plan import Plan
from aucstudio.project.data.import_choices import FirstReading
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiments.experiment import DataReference, check_band
from aucstudio.project.store.project.database import plain
from aucstudio.project.store.project.project_file import ProjectFile, StalePlanError, merged

_MERGES = 5  # with another window that writes at the same time


class PlanKeeper:
    """Writes plans into project files, one after the other, on a thread.

    Parameters
    ----------
    joined : callable
        Called on the thread with the owner, the plan as sent and the plan as stored, if another
        window has changed the plan meanwhile.
    """

    def __init__(self, joined: Callable[[object, object, object], object]) -> None:
        self._joined = joined
        self.is_closed = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="aucstudio-keeper")

    def write(
        self, owner: object, project: ProjectFile, document: Callable[[], dict[str, Any]]
    ) -> None:
        """Write a plan; a failed write is repeated with the next change.

        Parameters
        ----------
        owner : object
            Owner of the plan.
        project : ProjectFile
        document : callable
            Returns the content on the thread, as that of a wide table takes a while.
        """
        self._thread.submit(self._write, owner, project, document)

    def wait(self) -> None:
        """Wait until everything is written."""
        if not self.is_closed:
            self._thread.submit(lambda: None).result()

    def close(self) -> None:
        """Finish writing and end the thread."""
        self.is_closed = True
        self._thread.shutdown(wait=True)

    def _write(
        self, owner: object, project: ProjectFile, document: Callable[[], dict[str, Any]]
    ) -> None:
        with contextlib.suppress(InputError):
            sent = joined = plain(document())
            for _ in range(_MERGES):
                base = project.known_plan
                try:
                    project.set_plan(joined)
                except StalePlanError:
                    joined = merged(base, joined, project.plan())
                    continue
                break
            if joined != sent:
                self._joined(owner, sent, joined)


def joined_plan(plan: Plan, sent: dict[str, Any], joined: dict[str, Any]) -> Plan:
    """Return a plan with the changes of another window, which made ``joined`` of ``sent``."""
    present = plain(plan.as_json())
    return read_plan(merged(sent.get("window"), present, joined.get("window")))


def read_plan(document: Any) -> Plan:
    """Read a plan from an untrusted document.

    Raises
    ------
    ValueError
        If it is not a valid plan.
    """
    try:
        plan = Plan.from_json(document)
        check_band(plan.band)
        declared = declared_params(METHODS[plan.method])
        for name, value in plan.params.get(plan.method, {}).items():
            declared[name].check(value)
    except (msgspec.ValidationError, KeyError, TypeError, InvalidSetting) as error:
        raise ValueError(f"its content is not a valid plan: {error}") from error
    return plan


def plan_document(plan: Plan, table: Table | None) -> dict[str, Any]:
    """Return a plan and the reference to its table as plain data."""
    document: dict[str, Any] = {"window": plan.as_json()}
    if table is not None:
        with contextlib.suppress(InputError):
            data = DataReference.to_table(table)
            document["data"] = data.as_json()
            document["first_reading"] = FirstReading.of(table).as_json()
    return document
