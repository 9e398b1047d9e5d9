"""Declaration of the pages: the question of each, and its views."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class ViewDeclaration:
    """One picture with its controls and its sentence.

    Attributes
    ----------
    name : str
        Object name, also used in arrangements, projects and experiment files.
    title : str
    module, kind : str
        The module under ``aucstudio.gui.pages`` and its class.
    switch : str
        Text of the switch between the views of a page; by default the title.
    """

    name: str
    title: str
    module: str
    kind: str
    switch: str = ""


@dataclasses.dataclass(frozen=True)
class PageDeclaration:
    """One tab: a question, and one or several views that answer it.

    Attributes
    ----------
    title, question : str
    views : tuple of ViewDeclaration
    """

    title: str
    question: str
    views: tuple[ViewDeclaration, ...]

    @property
    def key(self) -> str:
        """Name of its first view."""
        return self.views[0].name


View = ViewDeclaration
PAGES = (
    PageDeclaration(
        "ROC",
        "Which run ranks best in the range that matters?",
        (View("roc_view", "ROC", "roc.roc_view", "RocView"),),
    ),
    PageDeclaration(
        "Compare",
        "How sure are the differences between runs?",
        (View("compare_view", "Compare", "compare.compare_view", "CompareView"),),
    ),
    PageDeclaration(
        "Pairs",
        "Which pairs of a positive and a negative are ranked wrongly, and why?",
        (
            View(
                "difference_view",
                "Difference vectors",
                "planes.difference_view",
                "DifferenceView",
            ),
            View("feature_view", "Feature space", "planes.feature_view", "FeatureView"),
        ),
    ),
    PageDeclaration(
        "Model",
        "What did the model learn?",
        (View("model_view", "Model", "model.model_view", "ModelView"),),
    ),
    PageDeclaration(
        "Scores",
        "Where should the threshold be, and are the probabilities right?",
        (
            View("scores_view", "Scores", "scores.scores_view", "ScoresView", "Distribution"),
            View(
                "calibration_view",
                "Calibration",
                "scores.calibration_view",
                "CalibrationView",
            ),
        ),
    ),
    PageDeclaration(
        "Data",
        "What is in the table?",
        (View("data_view", "Data", "data.data_view", "DataView"),),
    ),
    PageDeclaration(
        "Diagnostics",
        "Did training and the search for settings go well?",
        (
            View("training_view", "Training", "training.training_view", "TrainingView"),
            View("search_view", "Search", "search.search_view", "SearchView"),
        ),
    ),
    PageDeclaration(
        "Best",
        "Which of the models found should be used?",
        (View("best_view", "Best", "best.best_view", "BestView"),),
    ),
)
VIEWS = tuple(view for page in PAGES for view in page.views)


def page_of(name: str) -> PageDeclaration:
    """Return the page that a view belongs to."""
    return next(page for page in PAGES if any(view.name == name for view in page.views))
