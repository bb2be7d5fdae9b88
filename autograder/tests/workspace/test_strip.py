"""Stubs: invalid solution regions, names in the errors, and no code of the solution."""

import ast
import types
from dataclasses import dataclass
from unittest.mock import MagicMock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.workspace import answer_path
from autograder.workspace.strip import BEGIN, END, SolutionRegionError, solutions, stub
from course.checks import load_study, studies

INDENT = "    "


def function(*body, head="def f(x):"):
    """A module of one function with these lines as its body."""
    return "\n".join([head, *(INDENT + line for line in body)]) + "\n"


def raises_in(text):
    """The messages of all `raise NotImplementedError(...)` of a module, in order."""
    return [
        node.exc.args[0].value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Raise) and node.exc.func.id == "NotImplementedError"
    ]


# ---- Regions that are refused


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ((BEGIN, "return 1"), r"a\.py, line 2: the solution region never ends"),
        (("return 1", END), r"a\.py, line 3: a solution region ends without having begun"),
        (
            (BEGIN, "return 1", END, END),
            r"a\.py, line 5: a solution region ends without having begun",
        ),
        ((BEGIN, "x = 1", BEGIN, "return 1", END, END), r"a\.py, line 4: .* inside that of line 2"),
        ((BEGIN, "return 1", BEGIN), r"a\.py, line 4: .* inside that of line 2"),
        (("pass", BEGIN, END), r"a\.py, line 3: the solution region is empty"),
        (("pass", BEGIN, "", "  ", END), r"a\.py, line 3: the solution region is empty"),
        (("pass", BEGIN, "# only words", "", "# more", END), r"a\.py, line 3: .* is empty"),
    ],
)
def test_an_invalid_region_is_an_error(lines, problem):
    """Unmatched, nested, empty and comment-only regions raise an error with file and line."""
    with pytest.raises(SolutionRegionError, match=problem):
        stub(function(*lines), "a.py")


@pytest.mark.parametrize(
    "marker",
    [
        "### BEGIN HIDDEN TESTS",
        "### END HIDDEN TESTS",
        "### BEGIN SOLUTIONS",
        "###BEGIN SOLUTION",
        "### BEGIN",
        "### END",
        "###  BEGIN SOLUTION",
        "### BEGIN SOLUTION  # tidy",
        "#### END SOLUTION",
        "### begin solution",
        "### End Solution",
        "# BEGIN SOLUTION",
        "## END SOLUTION",
    ],
)
def test_an_unknown_marker_is_refused(marker):
    """A misspelt marker is an error, because the region that it should open would leak."""
    with pytest.raises(SolutionRegionError, match=r"a\.py, line 2: unknown marker"):
        stub(function(marker, "return 1"), "a.py")


def test_an_unknown_marker_inside_a_region_is_refused():
    """A misspelt marker inside a region is also an error, not a comment."""
    with pytest.raises(SolutionRegionError, match="line 3: unknown marker"):
        stub(function(BEGIN, "### END SOLUTIONS", "return 1", END), "a.py")


@pytest.mark.parametrize(
    ("source", "left"),
    [
        (f"y = 2\n\n{BEGIN}\nx = 1\n{END}\n", "y = 2\n"),
        (
            f"def f():\n    pass\n\n\n{BEGIN}\nx = 1\n{END}\n\ny = 2\n",
            "def f():\n    pass\n\ny = 2\n",
        ),
    ],
)
def test_a_region_of_the_module_is_left_out(source, left):
    """A region outside all functions, which only the answer needs, is not in the stub."""
    assert stub(source, "a.py") == left


@pytest.mark.parametrize("source", [f"class A:\n    {BEGIN}\n    x = 1\n    {END}\n"])
def test_a_region_of_a_class_is_refused(source):
    """A region in the body of a class has no function that could raise instead."""
    with pytest.raises(SolutionRegionError, match="is not inside a function"):
        stub(source, "a.py")


def test_a_region_that_spans_two_functions_is_refused():
    """A region that begins in one function and ends in the next would remove a signature."""
    source = f"def f():\n    {BEGIN}\n    return 1\n\n\ndef g():\n    return 2\n    {END}\n"
    with pytest.raises(SolutionRegionError):
        stub(source, "a.py")


def test_a_region_that_ends_outside_its_function_is_refused():
    """A region that ends in the module's body would leave a stub that cannot be imported."""
    with pytest.raises(SolutionRegionError):
        stub(f"def f():\n    {BEGIN}\n    return 1\n{END}\n", "a.py")


def test_a_region_that_ends_at_another_level_is_refused():
    """If the markers are indented differently, the stub would not be valid Python."""
    source = function("if x:", f"    {BEGIN}", "    return 1", END, "return 2")
    with pytest.raises(SolutionRegionError):
        stub(source, "a.py")


def test_a_region_does_not_swallow_the_docstring():
    """A docstring inside a region is an error, or kept: a stub needs its docstrings."""
    source = function(BEGIN, '"""What f does."""', "return x", END)
    try:
        text = stub(source, "a.py")
    except SolutionRegionError:
        return
    assert ast.get_docstring(ast.parse(text).body[0]) == "What f does."


# ---- Names


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (function(BEGIN, "return x", END), "f: write this function"),
        (function(BEGIN, "return x", END, head="async def f(x):"), "f: write this function"),
        (
            function(BEGIN, "return x", END, head="@cache\n@other(1)\ndef f(x):"),
            "f: write this function",
        ),
        (
            function("def g():", f"    {BEGIN}", "    return x", f"    {END}", "return g"),
            "f.g: write this function",
        ),
        (
            f"class A:\n    def m(self):\n        {BEGIN}\n        return 1\n        {END}\n",
            "A.m: write this method",
        ),
        (
            f"class A:\n    @property\n    def m(self):\n        {BEGIN}\n"
            f"        return\n        {END}\n",
            "A.m: write this method",
        ),
        (
            f"class A:\n    async def m(self):\n        {BEGIN}\n        return 1\n        {END}\n",
            "A.m: write this method",
        ),
        (
            f"class A:\n  class B:\n    def m(self):\n        {BEGIN}\n"
            f"        return 1\n        {END}\n",
            "A.B.m: write this method",
        ),
        (
            f"class A:\n  def m(self):\n    def g():\n      {BEGIN}\n      return 1\n      {END}\n"
            "    return g\n",
            "A.m.g: write this function",
        ),
        (
            function(
                "class B:",
                "    def m(self):",
                f"        {BEGIN}",
                "        return 1",
                f"        {END}",
                "return B",
            ),
            "f.B.m: write this method",
        ),
    ],
)
def test_the_error_names_the_function(source, sentence):
    """Nested and decorated functions, methods and coroutines have their qualified names."""
    assert raises_in(stub(source, "a.py")) == [sentence]


@pytest.mark.parametrize("head", ["if True:", "with x:", "for _ in x:", "try:"])
def test_a_function_inside_a_statement_is_named(head):
    """A function that is defined inside an `if` or a `with` is treated like any other."""
    inner = [head, "    def g():", f"        {BEGIN}", "        return 1", f"        {END}"]
    if head == "try:":
        inner += ["finally:", "    pass"]
    source = function(*inner)
    assert raises_in(stub(source, "a.py")) == ["f.g: write this function"]


def test_what_follows_an_inner_function_belongs_to_the_outer_one():
    """A region after a nested function is the outer function's."""
    source = function("def g():", "    return 1", BEGIN, "return g()", END)
    assert raises_in(stub(source, "a.py")) == ["f: write this function"]


def test_each_region_of_a_function_raises_by_itself():
    """Two regions of one function become two errors, and the code between them stays."""
    source = function(
        "if x:", f"    {BEGIN}", "    return 1", f"    {END}", "y = 2", BEGIN, "return y", END
    )
    text = stub(source, "a.py")
    assert raises_in(text) == ["f: write this function"] * 2
    assert "    y = 2\n" in text


# ---- What stays


def test_text_without_regions_stays_as_it_is():
    """Without solution regions nothing changes, including comments and blank lines."""
    source = '"""Doc."""\n\n# a comment\n\n\ndef f(x):  # BEGIN here\n\treturn "### nothing"\n'
    assert stub(source, "a.py") == source


@pytest.mark.parametrize("odd", ["\f", "\x1c", "\u2028", "\x85"])
def test_only_line_ends_end_lines(odd):
    """A form feed or a separator inside a line does not split it or shift the line numbers."""
    given_part = f'MARK = "a"  # {odd}b\n\n\ndef g():\n    pass\n\n\n'
    text = stub(given_part + function(BEGIN, "return x", END), "a.py")
    assert text.startswith(given_part)
    assert raises_in(text) == ["f: write this function"]


def test_kept_functions_keep_their_bodies():
    """`keep` contains qualified names of functions; only their markers are removed."""
    source = (
        f"class A:\n    def m(self):\n        {BEGIN}\n        return 1\n        {END}\n\n"
        f"    def n(self):\n        {BEGIN}\n        return 2\n        {END}\n"
    )
    text = stub(source, "a.py", keep=("A.m",))
    assert "return 1" in text
    assert "return 2" not in text
    assert "SOLUTION" not in text
    assert raises_in(text) == ["A.n: write this method"]


def test_a_kept_function_is_checked_all_the_same():
    """A region that is kept must still be valid: an empty one is an error."""
    with pytest.raises(SolutionRegionError, match="is empty"):
        stub(function("pass", BEGIN, END), "a.py", keep=("f",))


@pytest.mark.parametrize("ending", ["", "  ", "\t"])
def test_the_search_for_leaks_sees_every_region_that_is_stripped(ending):
    """White space after a marker has the same effect on `stub` and on the search for leaks."""
    source = function(BEGIN + ending, "return 41 + 1", END + ending)
    assert "41 + 1" not in stub(source, "a.py")
    assert [region.strip() for region in solutions(source)] == ["return 41 + 1"]


def test_solutions_gives_the_regions_in_order():
    """The lines of every region, without the markers."""
    source = function(BEGIN, "y = x", "return y", END) + function(
        BEGIN, "return 2", END, head="def g():"
    )
    assert solutions(source) == ["    y = x\n    return y", "    return 2"]


# ---- The real answers


def definitions(text):
    """Signature, decorators, docstring and bases of every class and function, by qualified name."""
    found = {}

    def visit(node, path):
        for child in ast.iter_child_nodes(node):
            inner = path
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inner = (*path, child.name)
                head = [ast.dump(d) for d in child.decorator_list]
                if isinstance(child, ast.ClassDef):
                    head += [ast.dump(base) for base in child.bases]
                else:
                    head += [ast.dump(child.args), child.returns and ast.dump(child.returns)]
                found[".".join(inner)] = (type(child).__name__, head, ast.get_docstring(child))
            visit(child, inner)

    visit(ast.parse(text), ())
    return found


@pytest.fixture(params=studies())
def answer(request):
    """The text of one study's reference answer."""
    return answer_path(load_study(request.param)).read_text("utf-8")


def test_the_stub_keeps_signatures_and_docstrings(answer):
    """Names, arguments, decorators, bases and docstrings of a stub are those of its answer."""
    text = stub(answer, "answer.py")
    compile(text, "stub.py", "exec")
    assert ast.get_docstring(ast.parse(text)) == ast.get_docstring(ast.parse(answer))
    mine, theirs = definitions(text), definitions(answer)
    assert mine == {name: theirs[name] for name in mine}
    for name in set(theirs) - set(mine):  # a helper within a solution goes with it
        assert name.rpartition(".")[0] in {"", *theirs}


def test_the_stub_holds_no_solution(answer):
    """Every line of a stub is a line outside the regions, or raises NotImplementedError."""
    text = stub(answer, "answer.py")
    outside, inside, regions = [], False, 0
    for line in answer.splitlines():
        if line.strip() in (BEGIN, END):
            inside = line.strip() == BEGIN
            regions += inside and line.startswith(" ")
        elif not inside:
            outside.append(line)
    kept = [line for line in text.splitlines() if "raise NotImplementedError(" not in line]
    assert list(filter(str.strip, kept)) == list(filter(str.strip, outside))
    assert len(text.splitlines()) - len(kept) == regions > 0
    assert not any(region in text for region in solutions(answer))


def test_every_stripped_function_raises_its_own_name(answer):
    """Calling a function that is not written yet raises an error with its name."""
    text = stub(answer, "answer.py")
    module = types.ModuleType("stub")
    exec(compile(text, "stub.py", "exec"), module.__dict__)
    called = []
    for path, node in bare_functions(ast.parse(text)):
        *owner, name = path
        holder = module
        for part in owner:
            holder = getattr(holder, part)
        arguments = [MagicMock() for _ in node.args.posonlyargs + node.args.args]
        if owner:
            arguments[0] = object.__new__(holder)
        keywords = {arg.arg: MagicMock() for arg in node.args.kwonlyargs}
        with pytest.raises(NotImplementedError) as error:
            getattr(holder, name)(*arguments, **keywords)
        assert str(error.value).startswith(f"{'.'.join(path)}: write this ")
        called.append(path)
    assert called


def bare_functions(node, path=()):
    """The functions and methods that do nothing but raise, with their paths."""
    for child in node.body:
        if isinstance(child, ast.ClassDef):
            yield from bare_functions(child, (*path, child.name))
        elif isinstance(child, ast.FunctionDef):
            rest = child.body[1:] if ast.get_docstring(child) is not None else child.body
            if (
                rest
                and isinstance(rest[0], ast.Raise)
                and not any(
                    isinstance(d, ast.Name) and d.id == "property" for d in child.decorator_list
                )
            ):
                yield (*path, child.name), child


# ---- Arbitrary modules


@dataclass(frozen=True)
class Given:
    """Lines that are the same in answer and stub."""

    lines: tuple[str, ...]

    def render(self, depth, answer, owner, keep):
        return [INDENT * depth + line if line else "" for line in self.lines]


@dataclass(frozen=True)
class Region:
    """A solution region."""

    lines: tuple[str, ...]

    def render(self, depth, answer, owner, keep):
        name, kind = owner
        inside = [INDENT * depth + line if line else "" for line in self.lines]
        if answer:
            return [INDENT * depth + BEGIN, *inside, INDENT * depth + END]
        if name in keep:
            return inside
        return [f'{INDENT * depth}raise NotImplementedError("{name}: write this {kind}")']


@dataclass(frozen=True)
class Block:
    """A function or a class with its parts; its name is given by its place."""

    head: str
    parts: tuple

    def render(self, depth, answer, owner, keep):
        name, kind = owner
        label = f"n{depth}"
        qualified = f"{name}.{label}" if name else label
        inner = (
            qualified,
            "class" if "class NAME" in self.head else "method" if kind == "class" else "function",
        )
        lines = [INDENT * depth + part for part in self.head.replace("NAME", label).split("\n")]
        for part in self.parts:
            lines += part.render(depth + 1, answer, inner, keep)
        return lines


CODE = st.sampled_from(["secret = 1", "return", "x = 'secret'", "if x:\n    secret()", "y: int"])
COMMENT = st.sampled_from(["", "# secret words", "#"])
GIVEN = st.lists(
    st.sampled_from(["given = 0", "", "# a note", "assert True, 'a ### b'"]), max_size=3
).map(lambda lines: Given((*lines, "pass")))


@st.composite
def regions(draw):
    """A region with at least one line of code among comments and blank lines."""
    lines = [
        *draw(st.lists(COMMENT, max_size=2)),
        *draw(st.lists(CODE, min_size=1, max_size=3)),
        *draw(st.lists(COMMENT, max_size=2)),
    ]
    return Region(tuple(line for text in lines for line in text.split("\n")))


def functions(parts):
    """Functions of all sorts around these parts; the docstring is a part like any other."""
    heads = st.sampled_from(
        [
            "def NAME():",
            "async def NAME(a, *b, c=1, **d):",
            "@print\ndef NAME(a, /, b) -> int:",
            "@print\n@print(1)\ndef NAME(a):",
        ]
    )
    docs = st.sampled_from([Given(('"""What it does."""',)), Given(('"Doc."', ""))])
    return st.builds(
        lambda head, doc, inner: Block(head, (doc, *inner)),
        heads,
        docs,
        st.lists(parts, max_size=3),
    )


def classes(parts):
    """Classes around these parts."""
    heads = st.sampled_from(["class NAME:", "@print\nclass NAME(object):"])
    return st.builds(
        lambda head, inner: Block(head, (Given(("attribute = 1",)), *inner)),
        heads,
        st.lists(parts, max_size=3),
    )


@st.composite
def modules(draw):
    """A list of top-level parts: given lines, functions and classes, nested up to three deep."""
    inner = functions(st.one_of(regions(), GIVEN))
    method = functions(st.one_of(regions(), GIVEN, inner, classes(inner)))
    return draw(st.lists(st.one_of(GIVEN, method, classes(method)), min_size=1, max_size=4))


def render(parts, answer, keep=()):
    """The text of a module: the answer, or the stub that it should give."""
    lines = []
    for part in parts:
        lines += part.render(0, answer, ("", None), keep)
    return "\n".join(lines) + "\n"


@settings(max_examples=50, deadline=None)
@given(modules())
def test_any_module_is_stripped_to_the_stub_that_it_should_give(parts):
    """Whatever functions a module has, just the regions go, and the result is Python."""
    text = stub(render(parts, answer=True), "a.py")
    assert text == render(parts, answer=False)
    assert "secret" not in text
    ast.parse(text)


@settings(max_examples=50, deadline=None)
@given(modules(), st.sets(st.sampled_from(["n0", "n0.n1", "n0.n1.n2"])))
def test_any_module_keeps_the_functions_to_keep(parts, keep):
    """Kept functions keep all their lines, and only the markers are removed."""
    text = stub(render(parts, answer=True), "a.py", keep=keep)
    assert text == render(parts, answer=False, keep=keep)
    assert BEGIN not in text


@given(st.lists(st.sampled_from([BEGIN, END, "return x", "# words", "", "    y = 1"]), max_size=8))
def test_stripping_either_refuses_or_leaves_no_marker(lines):
    """Even if markers are shuffled, no stub contains a marker."""
    try:
        text = stub(function("pass", *lines), "a.py")
    except (SolutionRegionError, IndentationError):
        return
    assert BEGIN not in text
    assert END not in text
    assert len(raises_in(text)) == lines.count(BEGIN)
