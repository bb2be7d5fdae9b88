"""Verifies the structure of the repository: names, complexity, and files per folder.

`python3 run.py check structure` prints each violation with its place:

- names of a private idiom: participles as nouns (`told`), prepositional phrases as functions
  (`of_the_machine`), metaphors (`door`). This covers Python's names, keys of dictionaries, command
  options, keys of TOML and JSON files, CSS classes, JavaScript, and the names of files and folders.
  A name with a good reason is in `JUSTIFIED`.
- functions with a cyclomatic complexity above `MAX_COMPLEXITY`, as radon measures it
- folders with more than `MAX_FILES` Python files, or more than `MAX_COURSE_FILES` for `course/`

Tests, answers and the modules that students write are exempt.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from radon.complexity import cc_visit

ROOT = Path(__file__).parents[3]
PACKAGES = ("common", "tictactoe", "sequence", "course", "autograder")
MAX_COMPLEXITY, MAX_FILES, MAX_COURSE_FILES = 15, 12, 8
# Whole names, or the last word of a name with underscores.
PARTICIPLES = """
    told said asked felt found shown given gone noted meant drawn_before put_out found_alone as_alone
    unwritten overtaken
""".split()
CLASSES = "known seen wanted others".split()  # usual as names of variables, unclear as classes
METAPHORS = """
    door doors knock walls room rooms desk luggage evening canary canaries journey machinery patience
    patient patiently surroundings promises
""".split()
PREPOSITIONS = "of in by at on with without for from beside within"
ARTICLES = "the its his their a an home all each this that"
PHRASE = re.compile(
    rf"^_?(?:{'|'.join(PREPOSITIONS.split())})_(?:{'|'.join(ARTICLES.split())})(?:_|$)"
)
ADVERB = re.compile(r"^_?[A-Z][a-z]+ily$|^_?[A-Z][a-z]+dily$")
OUTCOME = "course/checks/marking/outcome.py"
JUSTIFIED = {(OUTCOME, name): "a key that an earlier version wrote" for name in ("given", "said")}
NAMES_IN_TEXT = {  # names in files that are not Python, by suffix
    ".css": r"\.([A-Za-z_][\w-]*)",
    ".html": r"""(?:class|id)=["']([\w-]+)["']""",
    ".js": r"(?:\b(?:const|let|function)\s+|\.)([A-Za-z_]\w*)|\b([A-Za-z_]\w*)\s*:",
    ".json": r'"([A-Za-z_][\w-]*)":',
}
SUBMITTED = "outsiders"  # modules, stored as submitted


def modules(tests: bool = False) -> Iterator[Path]:
    """The Python files that are checked, with those of tests if `tests`."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).parts
            in_study = any(part.startswith("study") for part in parts[:-1])
            if (tests or "tests" not in parts) and (not in_study or "_check" in parts):
                yield path


def names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the name of everything that a module defines or binds."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.lineno, node.attr
            case ast.Dict():
                yield from filter(None, map(_text_name, node.keys))
            case ast.Subscript():
                yield from filter(None, [_text_name(node.slice)])
            case ast.Constant(value=str(text)) if re.fullmatch(r"--[a-z][a-z-]*", text):
                yield node.lineno, text.strip("-")


def _text_name(node: ast.AST | None) -> tuple[int, str] | None:
    """The line and the text of a string that has the form of a name."""
    match node:
        case ast.Constant(value=str(text)) if re.fullmatch(r"[A-Za-z_][\w-]*", text):
            return node.lineno, text
    return None


def other_names() -> Iterator[tuple[Path, str]]:
    """Each file with the names in it if it is not Python, and with its own name and its folders'."""
    for package in (*PACKAGES, "docs", "deploy", "research"):
        for path in sorted((ROOT / package).rglob("*")):
            parts = path.relative_to(ROOT).parts
            if not path.is_file() or {"__pycache__", "build", SUBMITTED} & {*parts}:
                continue
            yield from ((path, part.partition(".")[0]) for part in parts)
            if path.suffix == ".toml":
                keys = _keys(tomllib.loads(path.read_text("utf-8")))
                yield from ((path, key) for key in keys if re.fullmatch(r"[\w-]+", key))
            elif pattern := NAMES_IN_TEXT.get(path.suffix):
                for found in re.findall(pattern, path.read_text("utf-8")):
                    name = found if isinstance(found, str) else "".join(found)
                    yield path, name


def _keys(table: object) -> Iterator[str]:
    """The keys of a TOML table and of all tables in it."""
    if isinstance(table, dict):
        yield from table
        table = list(table.values())
    if isinstance(table, list):
        for item in table:
            yield from _keys(item)


def is_idiom(name: str) -> bool:
    """Whether a name is of the private idiom.

    >>> [name for name in ("told", "in_its_light", "in-its-light", "Greedily", "is_known")
    ...  if is_idiom(name)]
    ['told', 'in_its_light', 'in-its-light', 'Greedily']
    """
    name = name.replace("-", "_")
    plain = name.lower().strip("_")
    words = plain.split("_")
    return (
        plain in PARTICIPLES
        or (plain in CLASSES and name.strip("_")[:1].isupper() and not name.isupper())
        or bool({*words} & {*METAPHORS})
        or bool(PHRASE.match(name))
        or bool(ADVERB.match(name))
    )


def violations() -> Iterator[str]:
    """Each violation as a line with its place."""
    for path in modules():
        text = path.read_text("utf-8")
        place = path.relative_to(ROOT).as_posix()
        seen = set()
        for line, name in sorted(names(ast.parse(text))):
            if name not in seen and (place, name) not in JUSTIFIED and is_idiom(name):
                seen.add(name)
                yield f"{place}:{line}: the name {name!r}"
        for block in cc_visit(text):
            if block.complexity > MAX_COMPLEXITY and block.letter in "FM":
                yield f"{place}:{block.lineno}: {block.name} has complexity {block.complexity}"
    for path, name in dict.fromkeys(other_names()):
        if is_idiom(name):
            yield f"{path.relative_to(ROOT).as_posix()}: the name {name!r}"
    for folder in sorted({path.parent for path in modules(tests=True)}):
        place = folder.relative_to(ROOT).as_posix()
        limit = MAX_COURSE_FILES if place == "course" else MAX_FILES
        if (count := len(list(folder.glob("*.py")))) > limit:
            yield f"{place}: {count} Python files, at most {limit} are easy to survey"


if __name__ == "__main__":
    listed = list(violations())
    print("\n".join(listed))
    sys.exit(bool(listed))
