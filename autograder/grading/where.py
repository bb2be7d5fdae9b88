"""Where submissions run, if that is not as the course's configuration says."""

from collections.abc import Mapping

from traitlets.config import Config

from autograder.course_folder import CourseFolder

Where = Mapping[str, str | None]  # "isolation", "scheduler" of `GradingStep`; None: as configured
AS_CONFIGURED: Where = {}


def config_for(folder: CourseFolder, where: Where) -> Config:
    """The course's configuration, in which what `where` says overrides.

    It may hold classes of the course's own, so that it is read anew in each process.
    """
    config = folder.config()
    config.GradingStep.update({name: value for name, value in where.items() if value is not None})
    return config
