"""Independent verification of a fit.

Nothing here imports a solver, a loss or a feature map: kernels are written out again, losses are
summed pair by pair, areas are counted, and convex problems are solved by cvxopt or scipy. A method
names its problem in ``solves``; :data:`~aucstudio.engine.verification.problems.PROBLEMS` lists
them.
"""
