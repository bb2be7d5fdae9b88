"""Translates a course: the file `my_course/messages/LANGUAGE.po` and its compiled form.

`course.toml` names the language. `update_messages` writes all messages into the file for translators
and keeps the translations in it. `compile_messages` makes the file that `common.messages` reads, and
refuses a translation that has other fields than its message. Untranslated messages, and those that a
translator has not yet confirmed ("fuzzy"), stay English.
"""

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from babel.core import Locale, UnknownLocaleError
from babel.messages.catalog import Catalog
from babel.messages.catalog import Message as Entry
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po, write_po

from autograder.course_folder import CourseFolder
from autograder.errors import UserError
from autograder.release.own_course.message_extraction import Message, messages_of
from common.command_lines import DISTRIBUTION, advice
from common.messages import INDEX, PUNCTUATION, fields_of
from course.checks import Study, load_study, studies

BEGINNINGS = "".join(PUNCTUATION)
WIDTH = 100  # of a line in the file for translators
PO_LINE = re.compile(
    r'\s*(?:#.*|(?:(?:msgctxt|msgid|msgid_plural|msgstr|msgstr\[\d\])\s+)?"(?:[^"\\]|\\.)*"\s*)?'
)
HEADER = """\
# Translations of the texts that students read.
#
# Keep the fields in braces, such as {name}; their order may change.
# A space or punctuation at the beginning of a message must remain.
# Messages without a translation, and messages marked "fuzzy", stay English.
# After an edit, run `autograder adapt`.
#"""
Messages = Mapping[tuple[str, str], Message]


class TranslationError(UserError):
    """A mistake in a course's translations; the message names the file and the line."""


class Progress(NamedTuple):
    """How many messages are translated; the others are displayed in English."""

    file: Path
    translated: int
    unconfirmed: int  # marked as fuzzy
    messages: int

    def __str__(self) -> str:
        fuzzy = f", {self.unconfirmed} are marked fuzzy" if self.unconfirmed else ""
        return (
            f"{self.file}: {self.translated} of {self.messages} messages are translated{fuzzy}; the "
            "others are displayed in English"
        )


def update_messages(folder: CourseFolder) -> Progress:
    """Write all messages into the course's file for translators, and keep its translations.

    If a message has changed, its former translation is kept and marked as fuzzy.
    """
    file = folder.translations()
    if file is None:
        raise TranslationError(
            f'{folder.root / "course.toml"} names no language: add a line such as language = "de" '
            "at the top"
        )
    messages = _messages(folder)
    catalog = _read(file) if file.is_file() else _new_catalog(file)
    catalog.header_comment = HEADER
    catalog.update(_template(messages.values()), update_creation_date=False)
    file.parent.mkdir(exist_ok=True)
    text = io.BytesIO()
    write_po(text, catalog, width=WIDTH, include_lineno=False)
    _replace(file, text.getvalue())
    return _progress(file, catalog, messages)


def compile_messages(folder: CourseFolder) -> Progress | None:
    """Compile the course's translations; return None for a course in English.

    Raises `TranslationError`, and then keeps the former compiled file.
    """
    file, compiled = folder.translations(), folder.compiled_translations()
    if file is None or compiled is None:
        return None
    catalog, messages = _valid_catalog(folder, file), _messages(folder)
    _replace(compiled, _compiled(catalog, messages.values()))
    return _progress(file, catalog, messages)


def public_translations(folder: CourseFolder, wanted: Iterable[Study]) -> bytes | None:
    """Return the compiled translations without the messages that only staff's files or other studies
    contain.

    Returns None for a course in English. Raises `TranslationError`.
    """
    file = folder.translations()
    if file is None:
        return None
    messages = [each for each in messages_of(wanted).values() if each.is_public]
    return _compiled(_valid_catalog(folder, file), messages)


def _messages(folder: CourseFolder) -> Messages:
    folder.use_studies()
    return messages_of([load_study(name) for name in studies()])


def _template(messages: Iterable[Message]) -> Catalog:
    catalog = Catalog()
    for message in messages:
        catalog.add(
            (message.text, message.plural) if message.plural else message.text,
            locations=[(message.place, 0)],
            flags={"python-brace-format"} if fields_of(message.text) else set(),
            context=message.context or None,
        )
    return catalog


def _new_catalog(file: Path) -> Catalog:
    return Catalog(_locale(file), project=DISTRIBUTION, fuzzy=False)


def _locale(file: Path) -> Locale:
    """Return what Babel knows about the language of a file, such as its plural forms."""
    try:
        return Locale.parse(file.stem)
    except (UnknownLocaleError, ValueError) as error:
        raise TranslationError(
            f"{file.parents[1] / 'course.toml'}, language: {file.stem!r} is not a known language; "
            "use a code such as de or pt_BR"
        ) from error


def _read(file: Path) -> Catalog:
    data, locale = file.read_bytes(), _locale(file)
    try:
        lines = data.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TranslationError(f"{file}, line {line}: this is not UTF-8 text") from error
    for number, text in enumerate(lines, 1):
        if not PO_LINE.fullmatch(text):  # Babel ignores some of these lines
            raise TranslationError(
                f"{file}, line {number}: {text.strip()!r} is neither a comment nor a keyword with a "
                "text in quotes"
            )
    try:
        return read_po(io.BytesIO(data), locale, abort_invalid=True)
    except PoFileError as error:
        reason, line = str(error).partition(" on ")[0], error.lineno + 1
        raise TranslationError(f"{file}, line {line}: {reason} ({error.line.strip()!r})") from error
    except (ValueError, LookupError) as error:
        raise TranslationError(f"{file} cannot be read: {error}") from error


def _valid_catalog(folder: CourseFolder, file: Path) -> Catalog:
    """Return the translations if all of them have the fields of their messages."""
    if not file.is_file():
        raise TranslationError(
            f"{folder.root / 'course.toml'}, language: {file} is missing; "
            f"{advice('adapt', '--messages', course=folder.root)} writes it"
        )
    catalog = _read(file)
    for entry in catalog:
        if entry.id and not entry.fuzzy:
            for problem in _problems(entry, catalog.num_plurals):
                raise TranslationError(f"{file}, line {entry.lineno}: {problem}")
    return catalog


def _problems(entry: Entry, forms: int) -> Iterator[str]:
    """Yield what is wrong with the fields of a translation."""
    if isinstance(entry.id, str):
        yield from _wrong_fields(str(entry.string), fields_of(entry.id), fields_of(entry.id))
        if entry.string and entry.id[0] != str(entry.string)[0] and entry.id[0] in BEGINNINGS:
            yield f"{entry.string!r} must begin with {entry.id[0]!r}, like the message"
        return
    singular, plural = map(fields_of, entry.id)
    for number, text in enumerate(_strings(entry)):
        is_singular = number == 0 and forms > 1
        yield from _wrong_fields(text, singular if is_singular else plural, singular | plural)


def _wrong_fields(text: str, required: set[str], known: set[str]) -> Iterator[str]:
    if not text:
        return
    try:
        fields = fields_of(text)
    except ValueError as error:
        yield f"{text!r} has a brace that does not belong to a field ({error}): write {{{{ or }}}}"
        return
    if unknown := sorted(fields - known):
        yield f"{text!r} has {', '.join(unknown)}, which the message does not have" + (
            f"; its fields are {', '.join(sorted(known))}" if known else ""
        )
    elif missing := sorted(required - fields):
        yield f"{text!r} lacks {', '.join(missing)}, which the message has"


def _compiled(catalog: Catalog, messages: Iterable[Message]) -> bytes:
    """Return these messages as a .mo file, with the list of those that are recognised."""
    selected = Catalog(catalog.locale, fuzzy=False)
    sentences = []
    for message in messages:
        entry = catalog.get(message.text, message.context or None)
        if entry is None or entry.fuzzy or not _is_translated(entry):
            continue
        if bool(message.plural) == isinstance(entry.id, str):
            continue  # it has become a message with a plural, or is none any more
        selected.add(entry.id, entry.string, context=message.context or None)
        if message.is_sentence:
            sentences.append(message.text)
    selected.add(INDEX[1], json.dumps(sentences), context=INDEX[0])
    data = io.BytesIO()
    write_mo(data, selected)
    return data.getvalue()


def _is_translated(entry: Entry) -> bool:
    return all(_strings(entry))


def _strings(entry: Entry) -> Sequence[str]:
    """Return the translation, or all its plural forms."""
    return [entry.string] if isinstance(entry.string, str) else entry.string or [""]


def _progress(file: Path, catalog: Catalog, messages: Messages) -> Progress:
    entries = [catalog.get(message.text, message.context or None) for message in messages.values()]
    translated = [entry for entry in entries if entry is not None and _is_translated(entry)]
    fuzzy = sum(entry.fuzzy for entry in translated)
    return Progress(file, len(translated) - fuzzy, fuzzy, len(messages))


def _replace(file: Path, data: bytes) -> None:
    """Write a file atomically, because pages may be written at the same time."""
    part = file.with_name(f".{file.name}.part")
    part.write_bytes(data)
    part.replace(file)
