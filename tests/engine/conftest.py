"""Make the progress steps of a fit independent of the load of the machine."""

import math

import pytest


@pytest.fixture(autouse=True)
def no_clock(monkeypatch):
    """Switch off steps that are emitted after a time interval; tests that need them set it to 0."""
    monkeypatch.setattr("aucstudio.engine.monitor.STAGE_INTERVAL", math.inf)
    monkeypatch.setattr("aucstudio.engine.monitor.INTERVAL", math.inf)
