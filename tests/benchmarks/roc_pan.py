"""How long a frame of the ROC picture takes while a long curve is panned and zoomed.

    python tests/benchmarks/roc_pan.py [--scores 1000000] [--runs 1] [--frames 200]

Opens the ROC page (offscreen unless a platform is chosen) on runs with so many held-out scores,
moves the window by a few pixels or zooms it a little for each frame, and prints the time from
the change to the painted page: median, 99th percentile and longest, in milliseconds of the
window's thread on its processor, and the share of frames that are ready for a screen of 60 frames
a second, for each face and kind of axes; the line before it has the median of each zoom, the whole
picture first, which cannot be moved. (Wanted: 12 runs of 100,000 scores at 60 frames a second
in the median.) All runs on one core: Qt would otherwise have others fill
large areas, which the thread's time leaves out.
"""

import argparse
import dataclasses
import os
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
if hasattr(os, "sched_setaffinity"):  # Linux; before Qt counts the cores
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import numpy as np
from PySide6.QtGui import QImage, QPainter
from sklearn.datasets import make_classification

from aucstudio.gui.app import make_application
from aucstudio.gui.pages.roc.roc_view import RocView
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import Session
from aucstudio.project.data.splitting.validation import Validation
from aucstudio.project.data.table import read_table
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiments.experiment import DataReference
from aucstudio.project.runs.experiments.planning import plan_experiment

FRAME_MILLISECONDS = 1000 / 60
CASES = [("roc", "linear"), ("roc", "log"), ("roc", "probit"), ("precision", "linear")]


def small_record(folder):
    X, y = make_classification(400, 4, random_state=0)
    path = folder / "rows.csv"
    rows = [",".join(f"{v:.4f}" for v in row) + f",{c}" for row, c in zip(X, y, strict=True)]
    path.write_text("a,b,c,d,label\n" + "\n".join(rows), encoding="utf-8")
    table = read_table(path)
    plan = plan_experiment(DataReference.to_table(table), "auc-rls", {}, Validation())
    return execute(plan, table)


def long_record(record, scores, seed):
    rng = np.random.default_rng(seed)
    positive = rng.random(scores) < 0.1
    split = dataclasses.replace(
        record.splits[0],
        test_rows=np.arange(scores),
        test_positive=positive,
        test_scores=1.5 * positive + rng.normal(size=scores),
    )
    return dataclasses.replace(record, id=f"long {seed}", splits=(split,))


def frames(view, count):
    """Pan and zoom; give the seconds of each frame."""
    box, taken = view.canvas.box, []
    image = QImage(view.plot.size(), QImage.Format.Format_ARGB32_Premultiplied)
    view.canvas.show_whole()
    (left, right), (bottom, top) = box.viewRange()
    for k in range(count):
        share = 1.0 if k < 5 else 0.6 ** (k // (count // 10))  # ten zooms, panned at each
        width, height = share * (right - left), share * (top - bottom)
        x = left + 0.1 * (right - left) * (1 - share) + 0.01 * width * (k % 20)
        y = bottom + 0.45 * (top - bottom) * (1 - share) + 0.01 * height * (k % 20)
        began = time.thread_time()
        box.setRange(xRange=(x, x + width), yRange=(y, y + height), padding=0)
        painter = QPainter(image)
        view.plot.render(painter)
        painter.end()
        taken.append(time.thread_time() - began)
    return np.array(taken)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scores", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--frames", type=int, default=200)
    asked = parser.parse_args()

    application = make_application("light")
    session = Session()
    with tempfile.TemporaryDirectory() as folder:
        record = small_record(Path(folder))
    records = [long_record(record, asked.scores, seed) for seed in range(asked.runs)]
    view = RocView(session)
    view.resize(900, 640)
    view.show()
    session.study.records = {one.id: one for one in records}
    looks = {one.id: RunLook(one.id, k) for k, one in enumerate(records)}
    session.put_plan(dataclasses.replace(session.plan, looks=looks))
    session.select(records[0].id)
    for face, axes in CASES:
        view.choices.face_combo.setCurrentIndex(view.choices.face_combo.findData(face))
        view.choices.axis_combo.setCurrentIndex(view.choices.axis_combo.findData(axes))
        view.mark_stale()
        application.processEvents()
        taken = 1000 * frames(view, asked.frames)
        zooms = np.median(taken[: len(taken) // 10 * 10].reshape(10, -1), axis=1)
        print(f"{face:10} {axes:8} by zoom  " + " ".join(f"{one:5.1f}" for one in zooms))
        half, most = np.percentile(taken, [50, 99])
        ready = np.mean(taken < FRAME_MILLISECONDS)
        print(
            f"{face:10} {axes:8} median {half:5.1f}   99 % {most:5.1f}   longest {taken.max():5.1f}"
            f"   in time {ready:6.1%}"
        )
    session.close()


if __name__ == "__main__":
    main()
