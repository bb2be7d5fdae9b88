"""The first of nbgrader's steps when an assignment is generated."""

from pathlib import Path

from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.release.gradable import check


class RefuseUngradable(NbGraderPreprocessor):
    """Refuses names of assignments and notebooks that cannot be graded later."""

    def preprocess(self, nb, resources):
        """Leave the notebook unchanged, or raise `Refused`."""
        place, name = Path(resources["metadata"]["path"]), resources["metadata"]["name"]
        check(resources["nbgrader"]["assignment"], nb, place / f"{name}.ipynb", self.log)
        return nb, resources
