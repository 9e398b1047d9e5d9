"""How many threads the libraries of linear algebra may use."""

from __future__ import annotations

from threadpoolctl import threadpool_limits


def limit_threads(count: int) -> threadpool_limits:
    """Limit them for good, or for as long as what this gives is entered."""
    # A library that is loaded later would know nothing of the limit.
    import sklearn.base  # noqa: F401

    return threadpool_limits(count)
