"""Concurrent first use of a type by several threads."""

import subprocess
import sys

import pytest

SCRIPT = """
import dataclasses, sys, threading
from typing import Optional
from aucstudio.project import typed

sys.setswitchinterval(1e-6)
THREADS = 4
for _ in range(300):
    fields = [(f"x{k}", "Optional[int]", None) for k in range(9)]
    inner = dataclasses.make_dataclass("Inner", fields)
    kind = dataclasses.make_dataclass("Kind", [("inner", inner), ("more", "list[int]")])
    document, start, found = {"inner": {"x3": 1}, "more": [2]}, threading.Barrier(THREADS), []

    def make():
        start.wait()
        found.append(typed.convert(document, kind))

    inner.__module__ = kind.__module__ = __name__
    threads = [threading.Thread(target=make) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [kind(inner(x3=1), [2])] * THREADS
"""


@pytest.mark.slow
def test_type_conversion_is_thread_safe():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
