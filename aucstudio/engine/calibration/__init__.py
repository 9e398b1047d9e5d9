"""Calibrated probabilities: maps fitted on held-out scores, and their accuracy."""

from aucstudio.engine.calibration.learning import KINDS, learn
from aucstudio.engine.calibration.maps import TILT, Calibration, Sigmoid, Steps, restore
from aucstudio.engine.calibration.measures import Decomposed, brier_score, decompose, log_score
from aucstudio.engine.calibration.reliability import (
    Reliability,
    calibration_error,
    reliability,
)

__all__ = [
    "KINDS",
    "TILT",
    "Calibration",
    "Decomposed",
    "Reliability",
    "Sigmoid",
    "Steps",
    "brier_score",
    "calibration_error",
    "decompose",
    "learn",
    "log_score",
    "reliability",
    "restore",
]
