"""Messages are translated where they are displayed, and stay English in all other cases."""

import io
import json
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from common.messages import (
    INDEX,
    NAME,
    english,
    fields_of,
    joined,
    language,
    translate,
    translate_name,
    translate_plural,
    use_messages,
)

SENTENCES = {
    "your search explored {move} twice": "deine Suche hat {move} zweimal untersucht",
    "cell {move}": "Feld {move}",
    "depth {depth}": "Tiefe {depth}",
    "{place}: {sentence}": "{place}: {sentence}",
    "{where} ({details})": "{where} ({details})",
    "at the root": "an der Wurzel",
    "after {moves}": "nach {moves}",
    "{text}, so its sign is reversed": "{text}, also ist das Vorzeichen falsch",
    "the value is {value}": "der Wert ist {value}",
    "{best} of {all} points": "von {all} Punkten {best}",
    "; {file} counts": "; {file} zählt",
    "is not valid JSON ({place})": "ist kein gültiges JSON ({place})",
    "{first} and {second}": "{first} und {second}",
    "all correct": "alles richtig",
    "braces {{}} stay": "Klammern {{}} bleiben",
    "the value is {value}, but {other} is right": "der Wert ist {value} statt {other}",
    "{text}; the game is over": "{text}; das Spiel ist aus",
    "One of these: {first} Or: {second}": "Eines davon: {first} Oder: {second}",
    "One thing. And another and a third.": "Ein Ding. Und zwei weitere.",
}


def compiled(
    path: Path, sentences: Mapping[str, str], *others: tuple[str | tuple[str, ...], object, str]
) -> Path:
    """A compiled German file with these sentences, and other messages with their contexts."""
    catalog = Catalog("de", fuzzy=False)
    for text, translation in sentences.items():
        catalog.add(text, translation)
    for text, translation, context in others:
        catalog.add(text, translation, context=context or None)
    catalog.add(INDEX[1], json.dumps([*sentences]), context=INDEX[0])
    data = io.BytesIO()
    write_mo(data, catalog)
    path.write_bytes(data.getvalue())
    return path


@pytest.fixture
def german(tmp_path):
    """Texts are displayed in German."""
    file = compiled(
        tmp_path / "de.mo",
        SENTENCES,
        ("nodes", "Knoten", NAME),
        ("{part} of {whole}", "{whole}/{part}", ""),
        (
            ("{number} item of {name}", "{number} items of {name}"),
            ("eins", "{number} in {name}"),
            "",
        ),
        ("{size} bytes", "{length} Bytes", ""),
    )
    with use_messages(file):
        yield file


@pytest.mark.parametrize(
    "text, translation",
    [
        ("all correct", "alles richtig"),
        ("All correct.", "Alles richtig."),
        ("All correct. 3 of 4 points.", "Alles richtig. von 4 Punkten 3."),
        ("your search explored cell 4 twice", "deine Suche hat Feld 4 zweimal untersucht"),
        (
            "after 4, 2 (depth 3, alpha -1): the value is 3, so its sign is reversed",
            "nach 4, 2 (Tiefe 3, alpha -1): der Wert ist 3, also ist das Vorzeichen falsch",
        ),
        (
            "after 1, 4: the value is 1, but -1 is right, so its sign is reversed; the game is over",
            "nach 1, 4: der Wert ist 1 statt -1, also ist das Vorzeichen falsch; das Spiel ist aus",
        ),
        (
            "One of these: all correct Or: One thing. And another and a third.",
            "Eines davon: alles richtig Oder: Ein Ding. Und zwei weitere.",
        ),
        ("03.ipynb is not valid JSON (line 3)", "03.ipynb ist kein gültiges JSON (line 3)"),
        ("a.py is missing; b.py counts", "a.py is missing; b.py zählt"),
        ("given your f and g", "given your f and g"),
        ("f and g", "f und g"),
        ("all correct and at the root", "alles richtig und an der Wurzel"),
        ("this text and another text", "this text and another text"),
        ("braces {} stay", "Klammern {} bleiben"),
        ("an unknown sentence", "an unknown sentence"),
        ("", ""),
    ],
)
def test_stored_texts_are_recognised(german, text, translation):
    """Messages in messages, several sentences, capital letters and lists are recognised."""
    assert translate(text) == translation


@pytest.mark.parametrize(
    "text", ["ValueError: all correct", "KeyError (cell 4)", "x" * 5000 + " (at the root)"]
)
def test_errors_of_python_and_very_long_texts_stay(german, text):
    """The words of Python, and of students' own errors, are not translated."""
    assert translate(text) == text


def test_the_time_to_recognise_a_text_is_bounded(german):
    """Even for texts that students make up."""
    start = time.process_time()
    for part in ("a: ", "a, ", "a and ", "(a (", "after at the root: ", "A. "):
        translate(part * 400)
    assert time.process_time() - start < 5


def test_fields_are_filled_in_any_order(german):
    """Messages with fields are looked up as they are, so short ones are not ambiguous."""
    assert translate("{part} of {whole}", part=3, whole=4) == "4/3"
    assert translate("3 of 4") == "3 of 4"
    assert translate("{size} bytes", size=5) == "5 bytes"  # its translation has another field
    assert translate("{a} unknown", a=1) == "1 unknown"


def test_plural_forms_and_names(german):
    """The number selects the form; names have their own context."""
    forms = "{number} item of {name}", "{number} items of {name}"
    assert translate_plural(*forms, 1, name="x") == "eins"
    assert translate_plural(*forms, 3, name="x") == "3 in x"
    assert translate_plural("{number} file", "{number} files", 1) == "1 file"
    assert translate_plural("{number} file", "{number} files", 2) == "2 files"
    assert translate_name("nodes") == "Knoten" and translate("nodes") == "nodes"
    assert language() == "de"


@pytest.mark.parametrize("content", [None, b"", b"no .mo file", b"\xde\x12\x04\x95" + b"\xff" * 40])
def test_without_a_usable_file_texts_are_english(tmp_path, content):
    """A missing or damaged file never makes a page or a check fail."""
    file = tmp_path / "de.mo"
    if content is not None:
        file.write_bytes(content)
    with use_messages(file):
        assert translate("all correct") == "all correct"
        assert translate("{part} of {whole}", part=3, whole=4) == "3 of 4"
        assert translate_name("nodes") == "nodes"
        assert language() == "en"


def test_a_damaged_file_can_be_replaced(tmp_path):
    """A process notices that the file is different."""
    file = tmp_path / "de.mo"
    with use_messages(file):
        assert translate("all correct") == "all correct"
        compiled(file, SENTENCES)
        assert translate("all correct") == "alles richtig"
    assert translate("all correct") == "all correct"


def test_stored_texts_are_english(german):
    """Marking a message does not translate it."""
    assert english("all correct") == "all correct"
    assert joined(["x", "y", "z"]) == "x and y and z"
    assert joined(["x"]) == "x"


def test_fields_include_their_format():
    """A translation with another format has another field."""
    assert fields_of("{a} {b:.2f} {c!r} {{d}}") == {"{a}", "{b:.2f}", "{c!r}"}
    with pytest.raises(ValueError, match="expected '}'"):
        fields_of("{a")
