"""Command-line options that override where the course's configuration runs submissions."""

from collections.abc import Mapping

from traitlets.config import Config

from autograder.course_folder import CourseFolder

# "isolation" and "scheduler" of `GradingStep`; None keeps the configured value.
ExecutionOverrides = Mapping[str, str | None]
NO_OVERRIDES: ExecutionOverrides = {}


def config_with_overrides(folder: CourseFolder, overrides: ExecutionOverrides) -> Config:
    """Return the course's configuration with these overrides.

    It may contain classes that the course defines, so each process reads it again.
    """
    config = folder.config()
    config.GradingStep.update(
        {name: value for name, value in overrides.items() if value is not None}
    )
    return config
