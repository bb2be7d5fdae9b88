"""The translations of a course: extraction, the file for translators, errors and the compiled file."""

import ast
import io
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.course_folder import CourseFolder
from autograder.course_folder.table import read_course_table
from autograder.release import kit
from autograder.release.own_course import translation
from autograder.release.own_course.message_extraction import (
    Message,
    messages_of,
    module_messages,
    own_text,
)
from autograder.release.own_course.translation import TranslationError
from common.messages import KIT_FILE, NAME, fields_of, translate, translate_name, use_messages
from common.syntax import parse_python
from course.checks import StudyTableError, load_expected, load_study, studies
from course.checks.marking.explain import as_html, as_text
from course.checks.marking.items import items_of
from course.checks.marking.outcome import mark
from course.checks.replies import Replies
from course.checks.study_paths import KIT, VARIABLE

MARKING = ("common_cause", "diagnosis", "explain", "items", "outcome")
PARTS = ("CELL", "NO_ANSWER", "SAME_LIMIT")  # a style, and parts of messages
VERDICT = "autograder/grading/verdict"
GERMAN = 'language = "de"\n'
PO = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
SEPARATORS = (":", ",", "()", "\N{MULTIPLICATION SIGN}", ",  ()")  # messages without words
STATED = "your search explored {move} twice"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CourseFolder:
    """A new course in German, without translations."""
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setattr(translation, "messages_of", lambda studies: all_messages())  # it is slow
    folder = CourseFolder.create(tmp_path / "my course")
    (folder.root / "course.toml").write_text(GERMAN, "utf-8")
    return folder


def write_entries(course: CourseFolder, *entries: str) -> Path:
    """Write a file for translators with these entries, such as 'msgid "a"\\nmsgstr "b"'."""
    file = course.root / "messages" / "de.po"
    file.parent.mkdir(exist_ok=True)
    file.write_text(PO + "\n\n".join(entries) + "\n", "utf-8")
    return file


def entry(text: str, string: str) -> str:
    return f'msgid "{text}"\nmsgstr "{string}"'


def read_entries(course: CourseFolder) -> Catalog:
    return read_po(io.BytesIO((course.root / "messages" / "de.po").read_bytes()), "de")


@cache
def all_messages() -> dict[tuple[str, str], Message]:
    """All messages of the kit."""
    return messages_of([load_study(name) for name in studies()])


# ---- Extraction


@pytest.mark.parametrize(
    "code, messages",
    [
        ('english("text")', {"text"}),
        ('english(f"{len(moves)} moves of {self.name}")', {"{moves} moves of {name}"}),
        ('english(f"{a} or {b.a!r:.5}")', {"{a} or {a_2}"}),
        ('english(f"{a} or {a}")', {"{a} or {a}"}),
        ("""english(f"{'one' if x else 'two'} left")""", {"one left", "two left"}),
        ("""english(f"so{f', {x}' if x else ''}.")""", {"so, {x}.", "so."}),
        ('PART = "a part"\nenglish(f"{PART} of {x}")', {"a part of {x}"}),
        ('english("a" if x else y)', {"a"}),
        ('english(f"a {{b}}")', {"a {{b}}"}),
        ('english(f"item {n + 1}")', {"item {n}"}),
        ("english(name)", set()),
        ('english(f"{a}{b}")', set()),
        ('print("text")', set()),
    ],
)
def test_texts_in_code_become_format_strings(code, messages):
    """Fields have the names of values, and each branch is a message."""
    assert {message.text for message in module_messages(code, "a.py")} == messages


def test_only_texts_without_separate_fields_are_recognised_later():
    """A call with fields is looked up as it is."""
    code = 'translate("{a} of {b}", a=1, b=2)\ntranslate_plural("{number} x", "{number} y", 2)'
    direct, plural = module_messages(code, "a.py")
    assert (direct.text, direct.is_sentence) == ("{a} of {b}", False)
    assert (plural.text, plural.plural) == ("{number} x", "{number} y")


def test_all_sources_have_messages():
    """Code, the feedback page's template, and the studies' tables."""
    messages = all_messages()
    mistake = load_expected(
        load_study("study2").expected_file, load_study("study2").checks.values()
    )[1][0]
    for text in (STATED, "all correct", "Written answers", "{part} of {whole} points"):
        assert ("", text) in messages
    assert messages["", mistake.sentence.replace("{", "{{").replace("}", "}}")].is_public
    assert (NAME, "nodes") in messages
    assert ("", load_study("study2").title) in messages
    assert not messages["", STATED].is_public


def test_messages_of_other_studies_are_left_out():
    """A kit must not contain texts of a study that is not released yet."""
    messages = messages_of([load_study("study2")])
    studies_of = {part for each in messages.values() for part in Path(each.place).parts}
    assert {part for part in studies_of if re.match(r"study\d", part)} == {"study2_alpha_beta"}


def unmarked(code: str) -> Iterator[str]:
    """The texts of several words in a module that are not messages, docstrings or patterns."""
    tree = parse_python(code)
    calls = ("english", "translate", "translate_plural", "ValueError")
    inside = {
        id(part)
        for node in ast.walk(tree)
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) in (*calls, "re.match", "re.search")
        )
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in PARTS)
        or isinstance(node, ast.Compare)
        for part in ast.walk(node)
    }
    keys = {id(key) for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = re.findall(r"\b[a-z]{2,}\b", node.value)
            if len(words) > 1 and "<" not in node.value and id(node) not in inside | keys:
                yield node.value


@pytest.mark.parametrize(
    "module",
    [
        *(f"course/checks/marking/{name}.py" for name in MARKING),
        f"{VERDICT}/divergence_words.py",
        f"{VERDICT}/deepening/words.py",
    ],
)
def test_all_sentences_for_students_are_messages(module):
    """A sentence that is not marked would stay English in every course."""
    assert list(unmarked((KIT / module).read_text("utf-8"))) == []
    assert list(unmarked('"""Text of a module."""\nx = f"{n} more items"')) == [" more items"]


# ---- Every message


def mirrored(text: str) -> str:
    """A message in a language in which every word is in upper case and written backwards."""
    parts = []
    for literal, name, *_ in Formatter().parse(text):
        words = re.sub(r"`[^`\s]*`|[a-zA-Z]+", _mirrored_word, literal)
        parts.append(words.replace("{", "{{").replace("}", "}}"))
        parts.append("" if name is None else f"{{{name}}}")
    return "".join(parts)


def _mirrored_word(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith("`") else match[0].upper()[::-1]


@pytest.fixture(scope="module")
def complete(tmp_path_factory) -> Path:
    """A compiled file in which every message is translated."""
    folder = CourseFolder.create(tmp_path_factory.mktemp("complete") / "course")
    (folder.root / "course.toml").write_text(GERMAN, "utf-8")
    translation.update_messages(folder)
    catalog = read_entries(folder)
    for message in catalog:
        if message.id:
            forms = message.id
            message.string = (
                mirrored(forms) if isinstance(forms, str) else tuple(map(mirrored, forms))
            )
    with (folder.root / "messages" / "de.po").open("wb") as file:
        write_po(file, catalog)
    progress = translation.compile_messages(folder)
    assert progress and progress.translated == progress.messages == len(all_messages())
    compiled = folder.compiled_translations()
    assert compiled
    return compiled


def test_no_message_can_lose_a_field(complete):
    """Each message is recognised, and the translation has all values of its fields."""
    with use_messages(complete):
        for message in all_messages().values():
            if not message.is_sentence:
                continue
            names = sorted(name[1:-1] for name in fields_of(message.text))
            values = {name: str(1000 + number) for number, name in enumerate(names)}
            shown = translate(message.text.format(**values))
            assert not re.search(r"[a-z]{2}", re.sub(r"`[^`\s]*`", "", shown)), message
            assert all(value in shown for value in values.values()), message


def test_messages_have_words_and_plain_fields():
    """Without words, a message would match any text; a format could not be applied to a text."""
    for message in all_messages().values():
        if message.context == NAME:
            continue
        fields = fields_of(message.text)
        assert all(field[1:-1].isidentifier() for field in fields), message
        letters = re.findall("[A-Za-z]", own_text(message.text))
        own = own_text(message.text).strip()
        assert len(letters) > 1 or own in SEPARATORS, message


@pytest.mark.slow
@pytest.mark.parametrize("name", ["study1", "study2", "study3"])
def test_every_outcome_is_translated(complete, name):
    """Nothing in the explanation of a known mistake stays English, except code and positions."""
    study = load_study(name)
    expected, mistakes = load_expected(study.expected_file, study.checks.values())
    for mistake in mistakes:
        for check, observed in mistake.observed.items():
            outcome = mark(study.checks[check], Replies(tuple(observed)), expected[check], mistakes)
            with use_messages(complete):
                lines = [line for line in as_text(outcome).splitlines() if line[:10].strip()]
                assert "Likely cause" not in as_html(outcome)
            for line in lines[1:]:
                if not line.startswith(mirrored("Question")):
                    words = re.sub(r"`[^`]*`|\[.*?\]|true|false|null", "", line)
                    assert not re.search(r"\b[a-z]{4,}\b", words), line
            assert as_text(outcome).startswith(outcome.check)


# ---- The file for translators


def test_messages_are_written_and_translations_are_kept(course):
    """A second run changes nothing; a changed message is fuzzy, an unknown one becomes a comment."""
    first = translation.update_messages(course)
    assert first.translated == 0 and first.messages == len(all_messages())
    file = course.root / "messages" / "de.po"
    text = file.read_text("utf-8")
    text = text.replace('msgid "all correct"\nmsgstr ""', entry("all correct", "alles richtig"))
    text = text.replace(f'msgid "{STATED}"', 'msgid "your search explored {move} two times"')
    text = text.replace(
        'msgid "your search explored {move} two times"\nmsgstr ""',
        entry("your search explored {move} two times", "zweimal {move}"),
    )
    text += "\n" + entry("an entirely different thing", "etwas anderes") + "\n"
    file.write_text(text, "utf-8")
    second = translation.update_messages(course)
    assert (second.translated, second.unconfirmed) == (1, 1)
    updated = file.read_text("utf-8")
    assert entry("all correct", "alles richtig") in updated
    assert '#~ msgid "an entirely different thing"' in updated
    catalog = read_entries(course)
    assert catalog.get(STATED).fuzzy and catalog.get(STATED).string == "zweimal {move}"
    assert catalog.get("nodes", NAME) is not None
    translation.update_messages(course)
    assert file.read_text("utf-8") == updated


def test_fuzzy_and_missing_translations_stay_english(course):
    """Only confirmed translations are compiled."""
    write_entries(
        course,
        entry("all correct", "alles richtig"),
        "#, fuzzy\n" + entry("not all correct", "nicht ganz"),
        entry("differs", ""),
    )
    progress = translation.compile_messages(course)
    assert progress and (progress.translated, progress.unconfirmed) == (1, 1)
    with use_messages(course.compiled_translations()):
        assert translate("all correct") == "alles richtig"
        assert translate("not all correct") == "not all correct"
        assert translate("differs") == "differs"


def test_a_course_in_english_needs_no_file(course):
    """Without a language there is nothing to compile, and `--messages` explains what is missing."""
    (course.root / "course.toml").write_text("", "utf-8")
    assert translation.compile_messages(course) is None
    assert translation.public_translations(course, []) is None
    assert course.compiled_translations() is None
    with pytest.raises(TranslationError, match=r"names no language: add a line"):
        translation.update_messages(course)


# ---- Errors


def test_a_missing_file_is_an_error(course):
    """The message names the command that writes the file."""
    with pytest.raises(TranslationError, match=r"de.po is missing; `.*adapt --messages .*` writes"):
        translation.compile_messages(course)


@pytest.mark.parametrize(
    "entries, line, reason",
    [
        (['msgid "a"\nmsgstr b'], 6, "msgstr b"),
        (['msgid "a"\nwhat "b"'], 6, "what"),
        (
            [entry(STATED, "zweimal {zug}")],
            5,
            r"\{zug\}, which the message does not have.*\{move\}",
        ),
        ([entry(STATED, "zweimal")], 5, r"lacks \{move\}"),
        ([entry(STATED, "{move.__class__}")], 5, r"\{move.__class__\}, which the message does not"),
        ([entry(STATED, "{move:>99}")], 5, r"\{move:>99\}, which the message does not"),
        ([entry(STATED, "{move} {")], 5, "a brace that does not belong to a field"),
        ([entry("all correct", "alles {x}")], 5, r"\{x\}, which the message does not have"),
        ([entry("x", "y"), entry(" and {others} more", "und {others}")], 8, "must begin with ' '"),
    ],
)
def test_an_invalid_file_is_one_error_with_its_line(course, entries, line, reason):
    """The former compiled file remains."""
    file = write_entries(course, entry("all correct", "alles richtig"))
    translation.compile_messages(course)
    compiled = course.compiled_translations().read_bytes()
    write_entries(course, *entries)
    with pytest.raises(TranslationError) as error:
        translation.compile_messages(course)
    assert re.fullmatch(rf"{re.escape(str(file))}, line {line}: .*{reason}.*", str(error.value))
    assert course.compiled_translations().read_bytes() == compiled


def test_plural_forms_need_the_fields_of_their_form(course):
    """The singular may have the number, and the plural must have it."""
    plural = (
        'msgid "{{number}} item"\nmsgid_plural "{{number}} items"\nmsgstr[0] "{}"\nmsgstr[1] "{}"'
    )
    write_entries(course, plural.format("{number} Ding", "{number} Dinge"))
    translation.compile_messages(course)
    with use_messages(course.compiled_translations()):
        assert items_of([1]) == "1 Ding" and items_of([1, 2]) == "2 Dinge"
    write_entries(course, plural.format("{number} Ding", "Dinge"))
    with pytest.raises(TranslationError, match=r"line 5: 'Dinge' lacks \{number\}"):
        translation.compile_messages(course)
    write_entries(course, entry("{number} item", "{number} Ding"))
    translation.compile_messages(course)
    with use_messages(course.compiled_translations()):
        assert items_of([1]) == "1 item"


def test_a_file_in_another_encoding_is_an_error(course):
    """The message names the line with the first invalid byte."""
    file = write_entries(course, entry("all correct", "alles richtig"), entry("differs", "X"))
    file.write_bytes(file.read_bytes().replace(b'"X"', b'"\xfc"'))
    with pytest.raises(TranslationError, match=r"de.po, line 9: this is not UTF-8 text"):
        translation.compile_messages(course)


@pytest.mark.parametrize("language", ["../de", "DE", "", "de.po"])
def test_a_language_is_a_code(course, language):
    """It is the name of a file."""
    (course.root / "course.toml").write_text(f'language = "{language}"\n', "utf-8")
    with pytest.raises(StudyTableError, match=r"course.toml, language: .* must be a code"):
        read_course_table(course.root)


def test_an_unknown_language_is_an_error(course):
    """Its plural forms are unknown."""
    (course.root / "course.toml").write_text('language = "xq"\n', "utf-8")
    with pytest.raises(TranslationError, match=r"course.toml, language: 'xq' is not a known"):
        translation.update_messages(course)


# ---- Commands and the kit


def test_adapt_writes_and_compiles(course):
    """`--messages` writes the file; each run reports how much is translated."""
    arguments = ["adapt", "--course", str(course.root)]
    failed = CliRunner().invoke(app, arguments)
    assert failed.exit_code == 2 and "de.po is missing" in failed.output
    done = CliRunner().invoke(app, [*arguments, "--messages"])
    assert done.exit_code == 0, done.output
    assert f"0 of {len(all_messages())} messages are translated" in " ".join(done.output.split())
    assert course.compiled_translations().is_file()


def test_the_kit_has_the_public_translations(course):
    """`check` of the kit displays them; the sentences of staff's files are not in it."""
    write_entries(
        course,
        entry("all correct", "alles richtig"),
        entry(STATED, "zweimal {move}"),
        'msgctxt "name"\n' + entry("nodes", "Knoten"),
    )
    data = translation.public_translations(course, [load_study("study2")])
    files = kit.contents([load_study("study2")], data)
    assert files["course/messages.mo"] == data
    assert KIT_FILE.parts[-2:] == ("course", "messages.mo")
    assert "course/messages.mo" not in kit.contents([load_study("study2")])
    file = course.root / "kit.mo"
    file.write_bytes(data)
    with use_messages(file):
        assert translate("all correct") == "alles richtig"
        assert translate_name("nodes") == "Knoten"
        assert translate("your search explored 4 twice") == "your search explored 4 twice"
