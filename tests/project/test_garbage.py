"""The cyclic collector stays away while background threads make many objects."""

import gc

from aucstudio.project.garbage import without_collection


def test_the_collector_comes_back_after_the_last_of_all():
    assert gc.isenabled()
    with without_collection():
        with without_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
