"""A Dask scheduler and workers on loopback, each a process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import distributed

import aucstudio

CHECKOUT = Path(aucstudio.__file__).parents[1]


class Cluster:
    """A scheduler and workers, each a process."""

    def __init__(self, stack):
        self.stack = stack
        self.workers = []
        options = ("--host", "127.0.0.1", "--no-dashboard")
        self.scheduler = self.start("scheduler", "--port", "0", *options)
        self.address = self.read(self.scheduler, r"Scheduler at:\s+(tcp://\S+)")

    def start(self, program, *arguments, **variables):
        path = os.pathsep.join([variables.pop("first", ""), str(CHECKOUT)]).lstrip(os.pathsep)
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{program}", *arguments],
            cwd=CHECKOUT,
            env=os.environ | {"PYTHONPATH": path},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.stack.callback(self.end, process)
        return process

    def worker(self, **variables):
        options = ("--no-nanny", "--nthreads", "1", "--host", "127.0.0.1", "--no-dashboard")
        self.workers.append(self.start("worker", self.address, *options, **variables))

    @staticmethod
    def read(process, pattern):
        for line in process.stderr:
            found = re.search(pattern, line)
            if found:
                return found[1]
        raise AssertionError("the process ended before it said so")

    @staticmethod
    def end(process):
        process.kill()
        process.wait()
        process.stderr.close()

    def wait_for_workers(self, count):
        with self.client() as client:
            client.wait_for_workers(count, timeout=60)

    def client(self):
        return distributed.Client(self.address, set_as_default=False)
