"""Array types of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy import sparse

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
RowNumbers: TypeAlias = NDArray[np.int32]
Single: TypeAlias = NDArray[np.float32]
Rows: TypeAlias = "Array | sparse.csr_array | sparse.csr_matrix"
