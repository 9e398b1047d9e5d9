"""Support vector machines over positive-negative pairs."""
