"""Saves what nbgrader repeats for every submission: opening its gradebook, checking its schema.

nbgrader's steps open the gradebook about ten times for each submission, by the name `Gradebook` in
their own modules; within `one_session` that name gives the same open gradebook each time. What one
of their `with` blocks writes is one transaction, so that a run killed in the middle leaves no half
of it.
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
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from autograder.course_folder import held
from autograder.grading import nbgrader_steps as step

# Held until the transaction ends, however it ends; flock in `results/` sees only this machine.
ONE_WRITER = text("SELECT pg_advisory_xact_lock(hashtext('autograder'))")
# A database that has not counted its rows looks for a student's marks in those of the whole class.
# Table by table: PostgreSQL would log of each of its own, every time, that it is not ours to count.
COUNT_ROWS = [text(f'ANALYZE "{name}"') for name in api.Base.metadata.tables]
FIRST_COUNT = 100  # blocks (a submission has about ten) before it is told to; then twice as many
USERS: tuple[Any, ...] = (
    autograde,
    latesubmissions,
    overwritecells,
    overwritekernelspec,
    saveautogrades,
    step,
)


class _Batch(Session):
    """Writes what is to be committed, and commits at the end of the block."""

    def commit(self) -> None:
        """Flush only, so that errors are raised where they belong."""
        self.flush()


class OpenGradebook(api.Gradebook):
    """A gradebook that stays open when a block that uses it ends, with one writer at a time."""

    engine: Engine

    def __init__(self, db_url: str, course_id: str, lock: Path) -> None:
        super().__init__(db_url, course_id)
        self._lock, self._turn = lock, contextlib.ExitStack()
        self._done, self._counts_at = 0, FIRST_COUNT
        self.engine.dispose()
        self.engine = create_engine(db_url, pool_pre_ping=True)  # a server may have been restarted
        self.db = scoped_session(sessionmaker(bind=self.engine, class_=_Batch, future=True))

    def __enter__(self) -> "OpenGradebook":
        with contextlib.ExitStack() as turn:
            turn.enter_context(held(self._lock))
            turn.callback(self.db.remove)  # rolls back what was not committed
            if self.engine.dialect.name == "postgresql":
                self.db.execute(ONE_WRITER)
            self._turn = turn.pop_all()
        return self

    def __exit__(self, exc_type, exc_value, traceback) -> None:
        with self._turn:
            if exc_type is None:
                self._done += 1
                if self._done == self._counts_at:
                    self._counts_at *= 2
                    for statement in COUNT_ROWS:
                        self.db.execute(statement)
                Session.commit(self.db())

    @property
    def opened(self) -> Engine | None:
        """The open connections, if a server has them; a file costs little to open, and another one
        may be put in its place."""
        return self.engine if self.engine.dialect.name == "postgresql" else None

    def end(self) -> None:
        """Close it for good."""
        super().close()


class _CheckedSchema:
    """Stands in for jsonschema where nbgrader validates cells: a schema is checked only once."""

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
def one_session(db_url: str, course_id: str, lock: Path) -> Iterator[OpenGradebook]:
    """Let nbgrader's grading steps share one open gradebook within the block.

    While one of them uses it, no other worker with the same `lock`, a folder, does.
    """
    shared = OpenGradebook(db_url, course_id, lock)
    before = [module.Gradebook for module in USERS]
    for module in USERS:
        module.Gradebook = lambda *_arguments, **_options: shared
    common.jsonschema = _CheckedSchema
    api.app_log.addHandler(quiet := logging.NullHandler())  # what it prints is raised as well
    try:
        yield shared
    finally:
        common.jsonschema = jsonschema
        api.app_log.removeHandler(quiet)
        for module, theirs in zip(USERS, before, strict=True):
            module.Gradebook = theirs
        shared.end()
