"""What a fit tells must not depend on how busy the machine is."""

import math

import pytest


@pytest.fixture(autouse=True)
def no_clock(monkeypatch):
    """Leave out what is told only because time has passed; tests that want it set it to 0."""
    monkeypatch.setattr("aucstudio.engine.monitor._STAGE_INTERVAL", math.inf)
    monkeypatch.setattr("aucstudio.engine.monitor.INTERVAL", math.inf)
