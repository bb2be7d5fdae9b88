"""Translates the texts that students read on feedback pages and in the output of `check`.

A message is an English text in the code: an f-string, or a format string with named fields.

    raise BadReply(english(f"{name} must return a number"))    # stored, or sent by another process
    translate(error)                                           # displayed
    translate("{earned} of {points} points", earned=3, points=4)

Stored texts are English in every course, so marks and records do not depend on the language.
`english` marks such a text for the translators, and `translate` recognises it by its words where it
is displayed. Messages without a translation stay English.

`autograder adapt` compiles a course's translations (`autograder.release.own_course.translation`).
"""

import json
import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache, reduce
from gettext import GNUTranslations
from pathlib import Path
from string import Formatter
from typing import NamedTuple

KIT_FILE = Path(__file__).resolve().parents[1] / "course" / "messages.mo"  # in a course's kit
NAME = "name"  # the gettext context of names, such as those of aspects
INDEX = "index", "sentences"  # context and id of a JSON list of the messages to be recognised
MAX_LENGTH = 1000  # characters of a text that is recognised
MAX_READ = 1000  # parts of a text that are compared with all messages
BEFORE = "text_before"  # the field for a text before a message
MAX_DEPTH = 20  # levels of messages in messages
MIN_LETTERS = 5  # letters of a message's own text; messages with fewer match nearly every text
WORD = re.compile(r"\S+(?: = \S+)?|\([^()]*\)")  # a number, or code
SENTENCE_END = re.compile(r"(?<=\.) (?=\S)")
PUNCTUATION = (" ", ",", ";", ":", ".")
PREDICATES = ("is ", "has ", "did ", "holds ", "cannot ", "was ")  # after the name of a file
FOLLOWING = PUNCTUATION + PREDICATES  # beginnings of messages that follow another text
PYTHON_ERROR = re.compile(r"[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Iteration|Warning)\b")

_file: ContextVar[Path | None] = ContextVar("_file", default=KIT_FILE)


def english(text: str) -> str:
    """Return the text, and mark it as a message that is stored and displayed later."""
    return text


def joined(parts: Iterable[str]) -> str:
    """At least one part, as in "x and y and z", marked like `english`."""
    return reduce(lambda first, second: english(f"{first} and {second}"), parts)


def translate(text: str, /, **fields: object) -> str:
    """The text in the language of the course: a message with these fields, or a text that consists
    of messages, such as a stored sentence.
    """
    catalogue = _catalogue()
    if not fields:
        return catalogue.recognise(text) if catalogue else text
    return _filled(catalogue.message(text) if catalogue else text, text, fields)


def translate_plural(singular: str, plural: str, number: int, /, **fields: object) -> str:
    """The form of a message for this number, which is its field `{number}`."""
    fields["number"] = number
    catalogue = _catalogue()
    original = singular if number == 1 else plural
    form = catalogue.plural(singular, plural, number) if catalogue else original
    return _filled(form, original, fields)


def translate_name(name: str) -> str:
    """A name from a table, such as that of an aspect, in the language of the course."""
    catalogue = _catalogue()
    return catalogue.name(name) if catalogue else name


def language() -> str:
    """The code of the language in which texts are displayed, such as "de"."""
    catalogue = _catalogue()
    return catalogue.language if catalogue else "en"


@contextmanager
def use_messages(file: Path | None) -> Iterator[None]:
    """Display texts in the language of a compiled file; in English if it is None or missing."""
    token = _file.set(file)
    try:
        yield
    finally:
        _file.reset(token)


def fields_of(message: str) -> set[str]:
    """The fields of a format string, as they are written: {"{name}"}; raises ValueError."""
    return {
        f"{{{name}{'!' + conversion if conversion else ''}{':' + spec if spec else ''}}}"
        for _, name, spec, conversion in Formatter().parse(message)
        if name is not None
    }


def _filled(message: str, original: str, fields: Mapping[str, object]) -> str:
    with suppress(LookupError, ValueError, AttributeError, TypeError):
        return message.format(**fields)
    return original.format(**fields)  # `adapt` reports translations with wrong fields


class _Sentence(NamedTuple):
    """A message that is recognised in a text, and its translation."""

    pattern: re.Pattern[str]
    anchor: str  # the longest part of its own text
    letters: int  # of its own text
    message: str
    translation: str


class _Catalogue:
    """The translations in a compiled file."""

    def __init__(self, file: Path) -> None:
        with file.open("rb") as data:
            self._translations = GNUTranslations(data)
        context, name = INDEX
        listed = self._translations.pgettext(context, name)
        messages = [] if listed == name else json.loads(listed)
        self._whole = {
            each.format(): self.message(each).format() for each in messages if not fields_of(each)
        }
        sentences = (
            _sentence(each, self.message(each))
            for each in messages
            if fields_of(each) or each.startswith(FOLLOWING)
        )
        self._sentences = sorted(sentences, key=lambda each: -each.letters)
        self.language = self._translations.info().get("language", "en").replace("_", "-")

    def message(self, text: str) -> str:
        """The translation of a message with its fields, or the message itself."""
        return self._translations.gettext(text) if text else text

    def plural(self, singular: str, plural: str, number: int) -> str:
        """The form for this number."""
        return self._translations.ngettext(singular, plural, number)

    def name(self, name: str) -> str:
        """The translation of a name."""
        return self._translations.pgettext(NAME, name)

    @lru_cache(maxsize=4096)  # noqa: B019 - catalogues live as long as the process
    def recognise(self, text: str) -> str:
        """The text with all messages translated of which it consists."""
        return _Reading(self._whole, self._sentences).best(text).text


class _Interpretation(NamedTuple):
    """A text with translated messages."""

    text: str
    letters: int = 0  # of the messages
    is_message: bool = False  # whether it is one message, with fields, and not a list of them


class _Reading:
    """One attempt to recognise the messages of which a text consists."""

    def __init__(self, whole: Mapping[str, str], sentences: Sequence[_Sentence]) -> None:
        self._whole, self._sentences = whole, sentences
        self._known: dict[str, _Interpretation] = {}

    def best(self, text: str, depth: int = 0) -> _Interpretation:
        """The reading in which most of the text belongs to messages."""
        if text in self._whole:
            return _Interpretation(self._whole[text], _letters(text), True)
        if not text or len(text) > MAX_LENGTH or depth > MAX_DEPTH or len(self._known) > MAX_READ:
            return _Interpretation(text)
        if text not in self._known:
            best = _Interpretation(text)
            for reading in self._readings(text, depth + 1):
                if reading.letters > best.letters:
                    best = reading
            self._known[text] = best
        return self._known[text]

    def _readings(self, text: str, depth: int) -> Iterator[_Interpretation]:
        is_error = bool(PYTHON_ERROR.match(text))  # Python's own words stay as they are
        for sentence in self._sentences:
            if is_error and sentence.letters < MIN_LETTERS:
                return
            match = sentence.pattern.fullmatch(text) if sentence.anchor in text else None
            if match and (reading := self._with_fields(sentence, match.groupdict(""), depth)):
                yield reading
        yield from self._parts(text, depth)

    def _with_fields(
        self, sentence: _Sentence, values: Mapping[str, str], depth: int
    ) -> _Interpretation | None:
        """The translation of a message with these values of its fields; None if the message has
        few words and joins other texts than messages, numbers and code.
        """
        fields = {name: self.best(value, depth) for name, value in values.items()}
        if 0 < sentence.letters < MIN_LETTERS and not all(
            field.is_message or WORD.fullmatch(values[name]) for name, field in fields.items()
        ):
            return None
        texts = {name: field.text for name, field in fields.items()}
        return _Interpretation(
            _filled(sentence.translation, sentence.message, texts),
            sentence.letters + sum(field.letters for field in fields.values()),
            sentence.letters > 0,
        )

    def _parts(self, text: str, depth: int) -> Iterator[_Interpretation]:
        """The readings of a text with several sentences, or with a capital letter or a full stop
        that its message does not have.
        """
        first, *others = SENTENCE_END.split(text)
        if others:
            parts = [self.best(part, depth) for part in (first, *others)]
            yield _Interpretation(
                " ".join(part.text for part in parts), sum(part.letters for part in parts)
            )
        if text.endswith("."):
            without = self.best(text[:-1], depth)
            yield without._replace(text=f"{without.text}.")
        if text[0].isupper() and (text[1:2].islower() or text[1:2] == " "):
            small = self.best(text[0].lower() + text[1:], depth)
            yield small._replace(text=small.text[:1].upper() + small.text[1:])


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _sentence(message: str, translation: str) -> _Sentence:
    """A message as it can occur in a text: one that begins with punctuation or with a verb follows
    another text.
    """
    pattern, own_text, names = "", [], set()
    for literal, name, _, _ in Formatter().parse(message):
        pattern += re.escape(literal)
        own_text.append(literal)
        if name is not None:
            pattern += f"(?P={name})" if name in names else f"(?P<{name}>.*?)"
            names.add(name)
    if message.startswith(PUNCTUATION):
        pattern = f"(?P<{BEFORE}>.*?){pattern}"
    elif message.startswith(PREDICATES):
        pattern = rf"(?P<{BEFORE}>(?:\S+ )?){pattern}"
    if BEFORE in pattern:
        message, translation = f"{{{BEFORE}}}{message}", f"{{{BEFORE}}}{translation}"
    letters = _letters("".join(own_text))
    return _Sentence(
        re.compile(pattern, re.DOTALL), max(own_text, key=len), letters, message, translation
    )


def _catalogue() -> _Catalogue | None:
    file = _file.get()
    try:
        status = file.stat() if file else None
    except OSError:
        return None
    return _read(file, (status.st_mtime_ns, status.st_size)) if file and status else None


@lru_cache(maxsize=4)
def _read(file: Path, _version: object) -> _Catalogue | None:
    """The translations in a file; None for a damaged file, because English is better than an error."""
    with suppress(OSError, ValueError, LookupError, TypeError, struct.error, re.error):
        return _Catalogue(file)
    return None
