"""What the structural fits of a path share: features, cuts of each risk, and a direction."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable

from aucstudio.engine.features.spaces import Vectors
from aucstudio.engine.solvers.cuts import Cuts
from aucstudio.engine.types import Array


@dataclasses.dataclass
class Workbench:
    """Features, cuts of each risk, which do not depend on C, and the direction found last."""

    space: Vectors
    cuts: dict[Hashable, Cuts] = dataclasses.field(default_factory=dict)
    weights: Array | None = None
