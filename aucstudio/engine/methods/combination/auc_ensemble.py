"""AUC ensemble: the weighted sum of diverse methods that has the largest area on held-out rows.

Symbols: z_k scores of member k, held out in folds and put on a common scale; w_k its weight;
[alpha, beta] FPR range.
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from aucstudio.engine import roc
from aucstudio.engine.base import Array, AUCClassifier, Fit, Mask
from aucstudio.engine.cost import NUMBER, Cost, Work, cost_of
from aucstudio.engine.ensembles.combined import combine
from aucstudio.engine.ensembles.criterion import Criterion
from aucstudio.engine.ensembles.scales import Scale
from aucstudio.engine.ensembles.selection import BAGS, select_in_bags
from aucstudio.engine.methods.combination._library import Member, library
from aucstudio.engine.monitor import Monitor, Step, Stopped
from aucstudio.engine.params import InvalidSetting, param
from aucstudio.engine.quiet import without_convergence_warnings
from aucstudio.engine.scorers import Scorer

Rows = NDArray[np.intp]

_FEWEST_ROWS = 2  # of a class in a fold's training part
