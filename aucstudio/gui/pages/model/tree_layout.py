"""Where the nodes of a tree stand in its picture."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from aucstudio.project.explain.trees import Node


@dataclasses.dataclass(frozen=True, eq=False)
class Placed:
    """A node as it is drawn; ``folded`` where what is under it is not."""

    node: Node
    x: float
    y: float
    folded: bool
    children: tuple[Placed, ...] = ()

    def walk(self) -> Iterator[Placed]:
        """Give this node and all under it."""
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
    """Count what stands at the right ends of a tree that is drawn to a depth."""
    if node.left is None or node.right is None or node.depth >= levels:
        return 1
    return ends_at(node.left, levels) + ends_at(node.right, levels)
