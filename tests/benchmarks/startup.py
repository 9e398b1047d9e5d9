"""How long the program takes to its start page, in processor time and by stages.

Run as ``python -m tests.benchmarks.startup``; each start is a process of its own, the first of
them fills the caches and does not count.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

STARTS = 5
STAGES = ("interpreter", "imports", "application", "window", "shown")
CODE = """
import json, os, sys, time
stages = [time.process_time()]
from aucstudio.gui.app import make_application
from aucstudio.gui.main_window import MainWindow
from aucstudio.project.work.processes import the_processes
stages.append(time.process_time())
application = make_application()
stages.append(time.process_time())
window = MainWindow(the_processes())
stages.append(time.process_time())
window.show()
application.processEvents()
stages.append(time.process_time())
table = sys.argv[1:]
if table:
    window.open_path(table[0])
    while not window.isVisible() or window.session.table is None:
        application.processEvents()
    application.processEvents()
    stages.append(time.process_time())
print(json.dumps(stages))
sys.stdout.flush()
os._exit(0)
"""


def start(home):
    """Start once; give the processor time of each stage in seconds."""
    environment = {"QT_QPA_PLATFORM": "offscreen"} | os.environ | {"AUCSTUDIO_HOME": home}
    command = [sys.executable, "-c", CODE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    ends = json.loads(done.stdout)
    return [end - before for before, end in zip([0.0, *ends], ends, strict=False)]


def main():
    with tempfile.TemporaryDirectory() as home:
        start(home)
        starts = [start(home) for _ in range(STARTS)]
    for name, seconds in zip(STAGES, zip(*starts, strict=True), strict=True):
        print(f"{name:12} {statistics.median(seconds):6.3f} s")
    print(f"{'in all':12} {statistics.median(map(sum, starts)):6.3f} s")


if __name__ == "__main__":
    main()
