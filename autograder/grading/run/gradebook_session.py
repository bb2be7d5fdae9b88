"""Avoids work that nbgrader repeats for each submission: opening the gradebook and checking its
schema.

nbgrader's steps open the gradebook about ten times for each submission by calling the name
`Gradebook` in their modules. Within `shared_gradebook`, this call returns the same open gradebook
each time. All writes of one of their `with` blocks are one transaction, so a run that is killed
leaves no partial writes.
"""

import contextlib
import json
import logging
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
from jsonschema.exceptions import best_match
from nbgrader import api
from nbgrader.converters import autograde
from nbgrader.nbgraderformat import common
from nbgrader.preprocessors import (
    latesubmissions,
    overwritecells,
    overwritekernelspec,
    saveautogrades,
)
from sqlalchemy import Engine, create_engine, insert, select, text
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from autograder.course_folder import folder_lock
from autograder.database import engine
from autograder.grading.run import nbgrader_steps as step

# This lock is released when the transaction ends; the file lock in `results/` works only on one
# machine.
ADVISORY_LOCK = text("SELECT pg_advisory_xact_lock(hashtext('autograder'))")
# Without statistics, PostgreSQL scans the marks of the whole class to find those of one student.
# Only these tables are analysed, because analysing all would log a warning for each system table.
ANALYZE_TABLES = [text(f'ANALYZE "{name}"') for name in api.Base.metadata.tables]
ASSIGNMENT_TABLES = {
    kind.__tablename__
    for kind in (
        api.Assignment, api.Notebook, api.BaseCell, api.GradeCell, api.SolutionCell, api.TaskCell,
        api.SourceCell,
    )
}  # fmt: skip
FIRST_ANALYZE = 100  # blocks (about ten per submission) before the first ANALYZE; then doubled
PATCHED_MODULES: tuple[Any, ...] = (
    autograde,
    latesubmissions,
    overwritecells,
    overwritekernelspec,
    saveautogrades,
    step,
)


class _Batch(Session):
    """A session whose `commit` only flushes; the transaction is committed at the end of the block."""

    def commit(self) -> None:
        """Flush, so that errors are raised by the statement that caused them."""
        self.flush()


class SharedGradebook(api.Gradebook):
    """A gradebook that stays open after each `with` block, with one writer at a time."""

    engine: Engine

    def __init__(self, db_url: str, course_id: str, lock: Path) -> None:
        super().__init__(db_url, course_id)
        self._lock, self._turn = lock, contextlib.ExitStack()
        self._blocks, self._analyze_at = 0, FIRST_ANALYZE
        self.engine.dispose()
        self.engine = create_engine(db_url, pool_pre_ping=True)  # a server may have been restarted
        self.db = scoped_session(sessionmaker(bind=self.engine, class_=_Batch, future=True))

    def __enter__(self) -> "SharedGradebook":
        with contextlib.ExitStack() as turn:
            turn.enter_context(folder_lock(self._lock))
            turn.callback(self.db.remove)  # rolls back what was not committed
            if self.engine.dialect.name == "postgresql":
                self.db.execute(ADVISORY_LOCK)
            self._turn = turn.pop_all()
        return self

    def __exit__(self, exc_type, exc_value, traceback) -> None:
        with self._turn:
            if exc_type is None:
                self._blocks += 1
                if self._blocks == self._analyze_at:
                    self._analyze_at *= 2
                    for statement in ANALYZE_TABLES:
                        self.db.execute(statement)
                Session.commit(self.db())

    @property
    def opened(self) -> Engine | None:
        """The open connections to a server; None for a file, because a file is cheap to open and
        may be replaced.
        """
        return self.engine if self.engine.dialect.name == "postgresql" else None

    def dispose(self) -> None:
        """Close the gradebook permanently."""
        super().close()


class _CheckedSchema:
    """Replaces jsonschema where nbgrader validates cells, so that each schema is checked only once."""

    @staticmethod
    @cache
    def _validator(schema: str) -> jsonschema.protocols.Validator:
        content = json.loads(schema)
        kind = jsonschema.validators.validator_for(content)
        kind.check_schema(content)
        return kind(content)

    @classmethod
    def validate(cls, instance: dict, schema: dict) -> None:
        """Validate like `jsonschema.validate`."""
        error = best_match(cls._validator(json.dumps(schema)).iter_errors(instance))
        if error is not None:
            raise error


@contextlib.contextmanager
def shared_gradebook(db_url: str, course_id: str, lock: Path) -> Iterator[SharedGradebook]:
    """Let nbgrader's grading steps share one open gradebook within the block.

    Workers with the same folder `lock` use the gradebook one at a time.
    """
    shared = SharedGradebook(db_url, course_id, lock)
    before = [module.Gradebook for module in PATCHED_MODULES]
    schema = common.jsonschema
    for module in PATCHED_MODULES:
        module.Gradebook = lambda *_arguments, **_options: shared
    common.jsonschema = _CheckedSchema
    api.app_log.addHandler(quiet := logging.NullHandler())  # its messages are also raised as errors
    try:
        yield shared
    finally:
        common.jsonschema = schema
        api.app_log.removeHandler(quiet)
        for module, original in zip(PATCHED_MODULES, before, strict=True):
            module.Gradebook = original
        shared.dispose()


@contextlib.contextmanager
def temporary_gradebook(db_url: str, course_id: str, folder: Path) -> Iterator[str]:
    """Let nbgrader's grading steps use a new gradebook in `folder` within the block, and yield its
    address. It contains the assignments of the gradebook at `db_url`, but no submissions.
    """
    address = f"sqlite:///{folder / 'gradebook.db'}"
    with shared_gradebook(address, course_id, folder) as temporary:
        with engine(db_url).connect() as gradebook, temporary:
            for table in api.Base.metadata.sorted_tables:
                if table.name in ASSIGNMENT_TABLES:
                    rows = [dict(row) for row in gradebook.execute(select(table)).mappings()]
                    if rows:
                        temporary.db.execute(insert(table), rows)
        yield address
