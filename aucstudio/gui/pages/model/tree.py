"""Picture of a decision tree."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import ClassVar

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QFontMetrics, QResizeEvent

from aucstudio.engine.scorers import EnsembleScorer
from aucstudio.gui.common.eliding import elided
from aucstudio.gui.common.form import whole_box
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.plotting import make_plot, pen
from aucstudio.gui.common.statement import Statement
from aucstudio.gui.common.theme import current_theme, mixed
from aucstudio.gui.pages.model.model_picture import Columns, ModelPicture, ModelSubject
from aucstudio.gui.state.session import ShownRun
from aucstudio.gui.state.timers import delayed
from aucstudio.project.explain.trees import Node, plain_number, read_tree

_KEPT = 16  # trees of an ensemble that come back at once
_SLOT, _COLUMN = 44, 164  # pixels that a leaf and a level take at least
_MOST_LEAVES = 400  # drawn at once
_TINT = 0.14


class TreePart(ModelPicture):
    """The tree of the split that is pointed at, to as many levels as fit or are asked for."""

    key: ClassVar = "tree"
    title: ClassVar = "Tree"
    tip: ClassVar = "Splits of a tree and the rows in each leaf"
    of_one_split: ClassVar = True

    def __init__(self) -> None:
        super().__init__(make_plot("model_tree_plot", "", ""))
        self.plot.showGrid(x=False, y=False)
        self.plot.hideAxis("left")
        self.plot.hideAxis("bottom")
        self.plot.invertY(True)
        self.root: Node | None = None
        self.placed: Placed | None = None
        self._answer = self.answer(self._on_found, self.told.emit, keep=_KEPT)
        self._again = delayed(self, 50, self._draw)
        self.tree_box = whole_box("model_tree_box", "Tree", 0, 99)
        self.tree_box.setKeyboardTracking(False)
        self.tree_box.valueChanged.connect(self._ask)
        self.row.put(self.tree_box, "Tr&ee", "Which tree of the ensemble")
        self.levels_box = whole_box("model_levels_box", "Levels", 0, 99)
        self.levels_box.setSpecialValueText("as fit")
        self.levels_box.valueChanged.connect(self._draw)
        self.row.put(self.levels_box, "Le&vels", "Number of levels drawn")

    def suits(self, run: ShownRun) -> bool:
        return all(isinstance(split.model.scorer, EnsembleScorer) for split in run.record.splits)

    # ------------------------------------------------------------- computing

    def show_subject(self, subject: ModelSubject) -> None:
        self.subject = subject
        scorer = subject.split.model.scorer
        assert isinstance(scorer, EnsembleScorer)
        several = len(scorer.roots) > 1
        self.row.show(several, self.tree_box)
        with QSignalBlocker(self.tree_box):
            self.tree_box.setRange(1, len(scorer.roots))
            self.tree_box.setSuffix(f" of {len(scorer.roots)}")
        self._ask()

    def _ask(self) -> None:
        subject = self.subject
        if subject is None:
            return
        table, split, tree = subject.table, subject.split, self.tree_box.value() - 1
        if table is None:
            self._answer.drop()
            self.root = self.placed = None
            self.plot.clear()
            self.told.emit("Open the table of this run to see the rows in each leaf.")
            return
        asked = (subject.run.record.id, subject.run.record.created, subject.index, tree)

        def work(_post: Callable[[None], bool]) -> Node:
            scorer, preparation = split.model.scorer, split.model.preparation
            assert isinstance(scorer, EnsembleScorer)
            rows = preparation.apply(table, split.train_rows)
            layouts = split.model.schema.layouts
            return read_tree(scorer, tree, preparation, rows, split.train_positive, layouts)

        if self._answer.ask(asked, work):
            self.told.emit("Sending the training rows through the tree…")

    def _on_found(self, root: Node) -> None:
        self.root = root
        self._draw()

    # ------------------------------------------------------------- drawing

    def levels_that_fit(self) -> int:
        """Return how many levels can be read in the space there is."""
        assert self.root is not None
        deepest = max(1, int(self.plot.width()) // _COLUMN - 1)
        slots = max(4, int(self.plot.height()) // _SLOT)
        levels = 1
        while levels < deepest and ends_at(self.root, levels + 1) <= slots:
            levels += 1
        return levels

    def _draw(self) -> None:
        if self.root is None or self.subject is None:
            return
        levels = self.levels_box.value() or self.levels_that_fit()
        while levels > 1 and ends_at(self.root, levels) > _MOST_LEAVES:
            levels -= 1
        self.placed = place(self.root, levels)
        self.plot.clear()
        self._draw_branches(self.placed)
        leaves = ends_at(self.root, levels)
        depth = max(placed.x for placed in self.placed.walk())
        room = max(80, int(self.plot.width() / (depth + 1.05)) - 12)
        for placed in self.placed.walk():
            self._draw_node(placed, room)
        seen = min(leaves, max(4, int(self.plot.height()) // _SLOT))
        across = -0.05, depth + 1.0
        self.plot.set_whole(across, (-0.6, seen - 0.4), reach=(across, (-0.6, leaves - 0.4)))
        self.plot.show_whole()
        self.told.emit(_sentence(self.subject, self.root, levels))

    def _draw_branches(self, placed: Placed) -> None:
        ends = [
            (parent.x, parent.y, child.x, child.y)
            for parent in placed.walk()
            for child in parent.children
        ]
        x = [v for px, _, cx, _ in ends for v in (px, px, px, cx)]
        y = [v for _, py, _, cy in ends for v in (py, cy, cy, cy)]
        line = pen(current_theme().neutral, 1.2)
        self.plot.addItem(pg.PlotDataItem(x, y, pen=line, connect="pairs"))
        # Said once, at the root; it is the same everywhere.
        for child, words, side in zip(placed.children, ("yes", "no"), (1, 0), strict=False):
            answer = pg.TextItem(words, color=current_theme().muted, anchor=(0, side))
            answer.setPos(placed.x, child.y)
            self.plot.addItem(answer)

    def _draw_node(self, placed: Placed, room: int) -> None:
        theme, node = current_theme(), placed.node
        m, n = node.positives, node.negatives
        first, full = self._words(placed)
        width = QFontMetrics(self.font()).horizontalAdvance
        words = f"{_fitted(first, room, width)}\n{m:,} of {m + n:,} positive"
        end = not placed.children
        side = theme.positive if m * self._negatives() > n * self._positives() else theme.negative
        item = pg.TextItem(
            words,
            color=theme.text,
            anchor=(0, 0.5),
            border=pen(side if end else theme.neutral, 1.0),
            # Not see-through: a branch must not show under its end.
            fill=mixed(theme.card, side, _TINT) if end else theme.card,
        )
        plain_tooltip(item, full)
        item.setPos(placed.x, placed.y)
        item.setZValue(5)
        self.plot.addItem(item)

    def _words(self, placed: Placed) -> tuple[str, str]:
        """Return a node's first line, and what it says when it is pointed at."""
        node = placed.node
        if placed.folded:
            return f"… {node.leaves:,} leaves", f"{node.condition}\n{node.leaves:,} leaves below it"
        if node.is_leaf:
            assert self.subject is not None
            scorer = self.subject.split.model.scorer
            assert isinstance(scorer, EnsembleScorer)
            if len(scorer.roots) > 1:
                words = f"adds {plain_number(node.value, 3)}"
            else:
                words = f"score {plain_number(node.value + scorer.base, 3)}"
            return words, words
        gaps = "yes" if node.gaps_left else "no"
        return (
            node.condition + "?",
            f"{node.condition}?\nyes: up, no: down; missing counts as {gaps}",
        )

    def _positives(self) -> int:
        return self.root.positives if self.root else 0

    def _negatives(self) -> int:
        return self.root.negatives if self.root else 0

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._again.start()

    def data(self) -> Columns:
        if self.root is None:
            return {}
        nodes = all_nodes(self.root)
        return {
            "node": [node.index for node in nodes],
            "depth": [node.depth for node in nodes],
            "question": [node.condition for node in nodes],
            "yes": [node.left.index if node.left else None for node in nodes],
            "no": [node.right.index if node.right else None for node in nodes],
            "positives": [node.positives for node in nodes],
            "negatives": [node.negatives for node in nodes],
            "value": [node.value for node in nodes],
        }


def _fitted(words: str, room: int, width: Callable[[str], int]) -> str:
    """Cut the name of a question's column, and never what it is compared with."""
    name, sign, rest = words.partition(" ≤ ")
    if not sign:
        name, sign, rest = words.partition(" ≠ ")
    return elided(name, max(24, room - width(sign + rest)), width) + sign + rest


def _sentence(subject: ModelSubject, root: Node, levels: int) -> Statement:
    nodes = all_nodes(root)
    if len(nodes) == 1:
        return Statement(f"This tree of {subject.name} has no splits: all rows get the same value.")
    leaves = [node for node in nodes if node.is_leaf]
    best = max(leaves, key=lambda node: node.value)
    deep = max(node.depth for node in nodes)
    said = [
        f"The tree has {len(leaves):,} leaves and up to {deep} splits on a path, the first being "
        f"{root.condition}; a yes goes up.",
        f"Its best leaf has {best.positives:,} of {root.positives:,} positives and "
        f"{best.negatives:,} of {root.negatives:,} negatives of the training rows.",
    ]
    if levels < deep:
        said.append(f"{levels} of {deep} levels are drawn.")
    small = int(np.sum([node.positives + node.negatives < 5 for node in leaves]))
    if small:
        said.append(f"{small:,} leaves have fewer than five rows.")
    return Statement.of(*said)


@dataclasses.dataclass(frozen=True, eq=False)
class Placed:
    """A node as it is drawn; ``folded`` where what is under it is not."""

    node: Node
    x: float
    y: float
    folded: bool
    children: tuple[Placed, ...] = ()

    def walk(self) -> Iterator[Placed]:
        """Return this node and all under it."""
        yield self
        for child in self.children:
            yield from child.walk()


def place(node: Node, levels: int) -> Placed:
    """Lay a tree out: levels to the right, leaves one below another, parents between."""
    slots = iter(range(1 << 30))

    def lay(one: Node) -> Placed:
        if one.left is None or one.right is None or one.depth == levels:
            return Placed(one, one.depth, next(slots), folded=not one.is_leaf)
        pair = lay(one.left), lay(one.right)
        return Placed(one, one.depth, (pair[0].y + pair[1].y) / 2, folded=False, children=pair)

    return lay(node)


def all_nodes(root: Node) -> list[Node]:
    """List the nodes of a tree from the root down, the left side first."""
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += [child for child in (node.right, node.left) if child is not None]
    return found


def ends_at(node: Node, levels: int) -> int:
    """Count the leaves and cut nodes of a tree drawn to a depth."""
    if node.left is None or node.right is None or node.depth >= levels:
        return 1
    return ends_at(node.left, levels) + ends_at(node.right, levels)
