"""Whether a fit is what it says: its problem solved again, by routes that share no code with it.

Nothing here imports a solver, a loss or a feature map of the methods: kernels are written out
again, losses are summed over pairs one by one, areas are counted, and quadratic programmes go to
cvxopt, which is loaded when it is first needed. A method names its problem in its class attribute
``solves``; what that means is found in :data:`~aucstudio.engine.verification.problems.PROBLEMS`.
"""
