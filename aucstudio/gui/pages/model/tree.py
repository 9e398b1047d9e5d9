"""Picture of a decision tree."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import ClassVar

import pyqtgraph as pg
from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QFontMetrics, QResizeEvent

from aucstudio.engine.scorers import EnsembleScorer
from aucstudio.gui.common.form import whole_box
from aucstudio.gui.common.plain_text import elided, plain_tooltip
from aucstudio.gui.common.plotting import make_plot, pen
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.theme import current_theme, mixed, scaled
from aucstudio.gui.pages.model.model_picture import Columns, ModelPicture, ModelSubject
from aucstudio.gui.state.background import Work, delayed
from aucstudio.gui.state.session import ShownRun
from aucstudio.notices import text
from aucstudio.project.explain.trees import Node, plain_number, read_tree

_SLOT, _COLUMN = 44, 164  # pixels that a leaf and a level take at least
_MOST_LEAVES = 400  # drawn at once
_TINT = 0.14
_INDENT = 0.05  # of the distance of levels; of the branches below a box


class TreePart(ModelPicture[Node]):
    """A tree of the selected split, to the chosen level or to as many levels as fit."""

    key: ClassVar = "tree"
    title: ClassVar = "Tree"
    tip: ClassVar = "model_tree_tip"
    table: ClassVar = "model_tree_table"
    busy: ClassVar = "model_tree_busy"
    of_one_split: ClassVar = True
    keep: ClassVar = 16

    def __init__(self) -> None:
        super().__init__(make_plot("model_tree_plot", "", ""))
        self.plot.frame.show_grid(x=False, y=False)
        self.plot.getAxis("left").hide()
        self.plot.getAxis("bottom").hide()
        self.plot.getViewBox().invertY(True)
        self.placed: Placed | None = None
        self._again = delayed(self, 50, self.redraw)
        self.tree_box = self.row.put(whole_box("model_tree_box", 0, 99))
        self.tree_box.setKeyboardTracking(False)
        self.tree_box.valueChanged.connect(self.ask)
        self.levels_box = self.row.put(whole_box("model_levels_box", 0, 99))
        self.levels_box.setSpecialValueText("as fit")
        self.levels_box.valueChanged.connect(self.redraw)

    def suits(self, run: ShownRun) -> bool:
        return all(isinstance(split.model.scorer, EnsembleScorer) for split in run.record.splits)

    # ------------------------------------------------------------- computing

    def show_subject(self, subject: ModelSubject) -> None:
        count = len(_scorer(subject).roots)
        self.row.show(count > 1, self.tree_box)
        with QSignalBlocker(self.tree_box):
            self.tree_box.setRange(1, count)
            self.tree_box.setSuffix(f" of {count}")
        super().show_subject(subject)

    def request_key(self, subject: ModelSubject) -> tuple[object, ...]:
        return *subject.key, subject.index, self.tree_box.value()

    def work(self, subject: ModelSubject) -> Work[Node]:
        split, tree = subject.split, self.tree_box.value() - 1

        def work(_post: object) -> Node:
            preparation, layouts = split.model.preparation, split.model.schema.layouts
            rows, positive = preparation.apply(subject.data, split.train_rows), split.train_positive
            return read_tree(_scorer(subject), tree, preparation, rows, positive, layouts)

        return work

    # ------------------------------------------------------------- drawing

    def draw(self, subject: ModelSubject, found: Node) -> None:
        slots = max(4, int(self.plot.height()) // scaled(_SLOT))
        levels = self.levels_box.value() or self._levels_that_fit(found, slots)
        while levels > 1 and ends_at(found, levels) > _MOST_LEAVES:
            levels -= 1
        self.placed = place(found, levels)
        self.plot.clear()
        self._draw_branches(self.placed)
        leaves = ends_at(found, levels)
        depth = max(placed.x for placed in self.placed.walk())
        room = max(80, int(self.plot.width() / (depth + 1.05)) - 12)
        for placed in self.placed.walk():
            self._draw_node(subject, found, placed, room)
        across = -0.05, depth + 1.0
        seen = (-0.6, min(leaves, slots) - 0.4)
        self.plot.set_whole(across, seen, reach=(across, (-0.6, leaves - 0.4)))
        self.plot.show_whole()
        self.message.emit(_sentence(subject, found, levels))

    def _levels_that_fit(self, root: Node, slots: int) -> int:
        """Return how many levels are readable in the available space."""
        deepest = max(1, int(self.plot.width()) // scaled(_COLUMN) - 1)
        levels = 1
        while levels < deepest and ends_at(root, levels + 1) <= slots:
            levels += 1
        return levels

    def _draw_branches(self, placed: Placed) -> None:
        pairs = [(parent, child) for parent in placed.walk() for child in parent.children]
        # From below its box, not along its edge.
        x = [v for parent, child in pairs for v in 3 * [parent.x + _INDENT] + [child.x]]
        y = [v for parent, child in pairs for v in (parent.y, child.y, child.y, child.y)]
        line = pen(current_theme().neutral, 1.2)
        self.plot.addItem(pg.PlotDataItem(x, y, pen=line, connect="pairs"))
        # Written at the root only.
        for child, words, side in zip(placed.children, ("yes", "no"), (1, 0), strict=False):
            answer = pg.TextItem(words, color=current_theme().muted, anchor=(0, side))
            answer.setPos(placed.x + _INDENT, child.y)
            self.plot.addItem(answer)

    def _draw_node(self, subject: ModelSubject, root: Node, placed: Placed, room: int) -> None:
        theme, node, end = current_theme(), placed.node, not placed.children
        first, full = _node_words(subject, placed)
        width = QFontMetrics(self.font()).horizontalAdvance
        rows = text("model_tree_rows", m=node.positives, rows=node.positives + node.negatives)
        is_positive = node.positives * root.negatives > node.negatives * root.positives
        side = theme.positive if is_positive else theme.negative
        # Opaque: a branch must not show through its end.
        fill = mixed(theme.card, side, _TINT) if end else theme.card
        border, words = pen(side if end else theme.neutral, 1.0), _fitted(first, room, width)
        look = {"color": theme.text, "border": border, "fill": fill, "anchor": (0, 0.5)}
        item = pg.TextItem(f"{words}\n{rows}", **look)
        plain_tooltip(item, full)
        item.setPos(placed.x, placed.y)
        item.setZValue(5)
        self.plot.addItem(item)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._again.start()

    def columns(self, found: Node) -> Columns:
        nodes = list(found.walk())
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


def _scorer(subject: ModelSubject) -> EnsembleScorer:
    scorer = subject.split.model.scorer
    assert isinstance(scorer, EnsembleScorer)
    return scorer


def _node_words(subject: ModelSubject, placed: Placed) -> tuple[str, str]:
    """Return the first line of a node, and its tooltip."""
    node, scorer = placed.node, _scorer(subject)
    if placed.folded:
        tip = text("model_tree_folded", condition=node.condition, leaves=node.leaves)
        return f"… {node.leaves:,} leaves", tip
    if not node.is_leaf:
        tip = text("model_tree_question", condition=node.condition, gaps=node.gaps_left)
        return f"{node.condition}?", tip
    one_tree = len(scorer.roots) == 1
    value = plain_number(node.value + (scorer.base if one_tree else 0.0), 3)
    return 2 * (f"{'score' if one_tree else 'adds'} {value}",)


def _fitted(words: str, room: int, width: Callable[[str], int]) -> str:
    """Cut the name of a question's column, and never what it is compared with."""
    sign = next((sign for sign in (" ≤ ", " ≠ ") if sign in words), "")
    name, rest = words.split(sign, 1) if sign else (words, "")
    return elided(name, max(24, room - width(sign + rest)), width) + sign + rest


def _sentence(subject: ModelSubject, root: Node, levels: int) -> Statement:
    nodes = list(root.walk())
    if len(nodes) == 1:
        return Statement(text("model_tree_single", name=subject.name))
    leaves, deep = [node for node in nodes if node.is_leaf], max(node.depth for node in nodes)
    best = max(leaves, key=lambda node: node.value)
    small = sum(node.positives + node.negatives < 5 for node in leaves)
    return Statement.of(
        text("model_tree_leaves", leaves=len(leaves), deep=deep, first=root.condition),
        text("model_tree_best", best=best, root=root),
        text("model_tree_drawn", levels=levels, deep=deep) if levels < deep else "",
        text("model_tree_small", small=small) if small else "",
    )


@dataclasses.dataclass(frozen=True, eq=False)
class Placed:
    """A node with its position; ``folded`` if its children are not drawn."""

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
    """Place the nodes of a tree: levels to the right, leaves one below another, parents between."""
    slots = iter(range(1 << 30))

    def lay(one: Node) -> Placed:
        if one.left is None or one.right is None or one.depth == levels:
            return Placed(one, one.depth, next(slots), folded=not one.is_leaf)
        pair = lay(one.left), lay(one.right)
        return Placed(one, one.depth, (pair[0].y + pair[1].y) / 2, folded=False, children=pair)

    return lay(node)


def ends_at(node: Node, levels: int) -> int:
    """Count the leaves and cut nodes of a tree drawn to a depth."""
    if node.left is None or node.right is None or node.depth >= levels:
        return 1
    return ends_at(node.left, levels) + ends_at(node.right, levels)
