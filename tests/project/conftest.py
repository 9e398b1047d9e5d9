"""Small experiments for the tests of the project layer."""

import pytest

from aucstudio.project.data.validation import Validation
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment


@pytest.fixture
def plan(table):
    def make(method="auc-rls", settings=None, **validation):
        data = DataReference.to_table(table)
        scheme = Validation(**({"test_size": 0.5} | validation))
        return plan_experiment(data, method, settings or {}, scheme)

    return make
