"""Compiled kernels behave like the Python function, wherever the program is installed."""

import numba
import numpy as np

from aucstudio.engine.compiled import kernel


@kernel
def doubled(x):
    """Double a number."""
    return 2.0 * x


@kernel
def total(values):
    found = 0.0
    for value in values:
        found += doubled(value)
    return found


def test_kernel_may_call_another_kernel():
    assert total(np.arange(4.0)) == 12.0
    assert doubled.__doc__ == "Double a number."


def test_kernel_compiles_without_a_cache_folder(monkeypatch):
    whole = numba.njit

    def no_folder(*arguments, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return whole(*arguments, **options)

    monkeypatch.setattr(numba, "njit", no_folder)

    @kernel
    def tripled(x):
        return 3.0 * x

    assert tripled(2.0) == 6.0
