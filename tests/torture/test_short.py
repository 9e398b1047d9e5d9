"""A short form of the trials, run with the test suite."""

import shutil
import sys

import pytest

from tests.torture.__main__ import TRIALS, run_trial

NEEDS_COMPILER = ("failing-call", "full-disk", "clock-back")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks into /proc")
@pytest.mark.parametrize("name", TRIALS)
def test_trial_loses_nothing_and_reports_every_error(name, tmp_path):
    if name in NEEDS_COMPILER and not (shutil.which("gcc") or shutil.which("cc")):
        pytest.skip("there is no C compiler to build the failing layer with")
    tally = run_trial(name, tmp_path, short=True)
    assert tally.tries > 0
    assert tally.clean, (tally, tally.notes)
