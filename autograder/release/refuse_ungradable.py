"""Defines the first step that nbgrader runs when an assignment is generated."""

from pathlib import Path

from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.release.gradable import check


class RefuseUngradable(NbGraderPreprocessor):
    """Rejects assignment names and notebooks that could not be graded later."""

    def preprocess(self, nb, resources):
        """Leave the notebook unchanged, or raise `UserError`."""
        place, name = Path(resources["metadata"]["path"]), resources["metadata"]["name"]
        check(resources["nbgrader"]["assignment"], nb, place / f"{name}.ipynb", self.log)
        return nb, resources
