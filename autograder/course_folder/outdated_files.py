"""Finds the files of a course folder that the present version of the kit cannot use unchanged."""

import ast
import json
import re
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from autograder.course_folder import CONFIG_FILE, STUDIES, CourseFolder
from autograder.course_folder.kit_imports import (
    NOT_PARSED,
    Import,
    KitModules,
    imports_of,
    parse_code,
)
from common.command_lines import advice, join
from common.syntax import SHELL_LINES, text_of
from course.checks import modules
from course.lab.start_page import MADE_BY, PAGE

FORMER_OPTIONS = {"probe_seconds": "check_seconds"}  # of `GradingStep`, with their present names
EXTENSION = re.compile(r"^%(?:re)?load_ext\s+([\w.]+)", re.MULTILINE)
EXTENSION_IN_TEXT = re.compile(r"^# %(?:re)?load_ext\s+([\w.]+)", re.MULTILINE)  # by Jupytext
IMPORT_LINE = re.compile(r"^[ \t]*((?:from|import)\s.*)", re.MULTILINE)
NOT_READ = (*NOT_PARSED, OSError, KeyError, TypeError)


def outdated_files(folder: CourseFolder, adapted: Container[str] = ()) -> Iterator[str]:
    """Yield a sentence for each page, notebook, module and option that needs a change.

    `adapted` are the studies that `course.toml` changes, because `adapt` makes their files.
    """
    kit, assignments = KitModules(), modules()
    for path in _files(folder.root):
        place = path.relative_to(folder.root)
        name = str(place) if str(place).isprintable() else ascii(str(place))
        command = _renewing_command(folder, place, assignments, adapted)
        try:
            imports = _imports(path)
        except NOT_READ as error:
            yield f"{name} cannot be read ({_reason(error)}): {command or 'repair or delete it'}"
            continue
        missing = {kit.missing(*each) for each in imports} - {""}
        if missing:
            yield (
                f"{name} imports {', '.join(sorted(missing))}, which this version of the kit does "
                f"not have: {command or 'edit it'}"
            )
        if place == Path(CONFIG_FILE):
            yield from _former_options(path)


def _files(root: Path) -> Iterator[Path]:
    """Yield the pages, notebooks and modules, without those of students and of editors."""
    paths = [root / PAGE, root / CONFIG_FILE]
    for part in ("source", "release", STUDIES):
        paths += sorted((root / part).rglob("*"))
    for path in paths:
        parts = path.relative_to(root).parts
        is_ignored = any(part.startswith(".") or part == "__pycache__" for part in parts)
        if path.suffix in (".py", ".ipynb") and not is_ignored and path.is_file():
            yield path


def _imports(path: Path) -> set[Import]:
    """Return what a file imports from modules that are not next to it; raises one of `NOT_READ`."""
    data = path.read_bytes()
    imports: set[Import] = set()
    if path.suffix == ".py":
        imports.update(imports_of(parse_code(data)))
        imports.update((name, "") for name in EXTENSION_IN_TEXT.findall(text_of(data)))
    else:
        for source in _code_cells(json.loads(data)):
            imports.update((name, "") for name in EXTENSION.findall(source))
            for tree in _trees(source):
                imports.update(imports_of(tree))
    return {each for each in imports if not _is_local(each[0].partition(".")[0], path.parent)}


def _code_cells(notebook: Any) -> list[str]:
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _trees(cell: str) -> list[ast.Module]:
    """Return the syntax tree of a cell; if the cell is not plain Python, those of its import lines."""
    with suppress(*NOT_PARSED):
        return [parse_code(SHELL_LINES.sub("", cell))]
    trees = []
    for line in IMPORT_LINE.findall(cell):
        with suppress(*NOT_PARSED):
            trees.append(parse_code(line))
    return trees


def _is_local(package: str, folder: Path) -> bool:
    """Whether an import finds a module in the file's own folder instead of a package of the kit."""
    return (folder / f"{package}.py").is_file() or (folder / package / "__init__.py").is_file()


def _renewing_command(
    folder: CourseFolder, place: Path, assignments: Mapping[str, str], adapted: Container[str]
) -> str:
    """Return the command that writes a file again; "" for an instructor's own file.

    `assignments` are the assignments of all studies, with their modules.
    """
    match place.parts:
        case (name,) if name == PAGE and _is_page(folder.root / PAGE):
            return f"{advice('lab', str(folder.root))} writes it again"
        case ("source" | "release", assignment, _, *_) if assignment in assignments:
            command = advice("generate", _study(assignment), course=folder.root)
            return f"{command} makes the assignment again, without cells that you added"
        case ("release", assignment, _, *_):
            command = join(["nbgrader", "generate_assignment", assignment, "--force"])
            return f"`{command}` in {folder.root} makes the assignment again"
        case ("studies", *folders, _) if any(_study(each) in adapted for each in folders):
            return f"{advice('adapt', course=folder.root)} makes this version again"
        case ("studies", "course", assignment, name) if assignment in assignments and (
            name.endswith(".ipynb") or name == assignments[assignment]
        ):
            return f"{advice('build', _study(assignment), course=folder.root)} writes it again"
    return ""


def _study(assignment: str) -> str:
    return assignment.partition("_")[0]


def _is_page(path: Path) -> bool:
    """Whether `lab` wrote a page, and may write it again."""
    with suppress(*NOT_READ):
        return MADE_BY in json.loads(path.read_bytes())["metadata"]
    return False


def _former_options(path: Path) -> Iterator[str]:
    for node in ast.walk(parse_code(path.read_bytes())):
        for former, present in FORMER_OPTIONS.items():
            if former in (getattr(node, field, None) for field in ("attr", "arg", "value")):
                line = getattr(node, "lineno", 1)
                yield (
                    f"{path.name}, line {line}: {former} still has its effect, but its name "
                    f"is now {present}: edit it"
                )


def _reason(error: Exception) -> str:
    match error:
        case SyntaxError(lineno=line, msg=message):
            return f"line {line}: {message}" if line else message
        case OSError():
            return str(error.strerror)
        case KeyError() | TypeError():
            return "it does not have the format of notebooks"
    return str(error)
