"""Small experiments for the tests of the project layer."""

import pytest

from aucstudio.project.experiment import DataReference, plan_experiment
from aucstudio.project.split import Validation


@pytest.fixture
def plan(table):
    def make(method="auc-rls", settings=None, **validation):
        data = DataReference.to_table(table)
        scheme = Validation(**({"test_size": 0.5} | validation))
        return plan_experiment(data, method, settings or {}, scheme)

    return make
