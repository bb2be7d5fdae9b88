"""The first divergence: where a search with an unknown mistake departs from the reference's."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import ModuleType

import pytest

from autograder import workspace
from autograder.grading.run import nbgrader_steps
from autograder.grading.run.nbgrader_steps import GradingStep
from autograder.grading.verdict.answer_key import AnswerKey, load_answer_key
from autograder.grading.verdict.deepening.compare import first_difference, reference_searches
from autograder.grading.verdict.divergence import (
    _reference_tree,
    first_divergence,
    trace_check,
)
from autograder.grading.verdict.divergence_words import (
    CORRECT_IN_ISOLATION,
    NOT_RECURSIVE,
    SENTENCE_KINDS,
    divergence_kind,
    rounding_note,
    skipped_move,
)
from autograder.release.own_course.variants import answer_to, read_variants
from course.checks import Check, Study, load_check, load_expected, load_study
from course.checks.marking.explain import as_html, as_text
from course.checks.marking.outcome import Outcome, mark
from course.checks.questions import RECORDERS
from course.checks.replies import Replies
from course.checks.running.queries import reply
from course.checks.trees import SEPARATOR, add_windows, node_texts, read_trees, window_texts
from tictactoe.nodes import Visit

STUDY = load_study("study3")
SMALL = Outcome(
    "study3.type_a",
    False,
    (),
    None,
    {
        "question": {"agent": "TypeA", "limit": 2, "on": "xox_o_x_o"},
        "errors": {},
        "expected": {"move": 3, "value": 0, "nodes": 9},
        "got": {"move": 5, "value": 0, "nodes": 9},
    },
    None,
    None,
    False,
    0.1,
)
REFERENCE = workspace.module_texts(STUDY)["reference"]


@pytest.fixture(autouse=True)
def _all_shown(monkeypatch):
    """Any hidden case may explain a check here, so the smallest one does."""
    show(monkeypatch, lambda check: frozenset(range(len(check.cases))))


def show(monkeypatch, cases: Callable[[Check], frozenset[int]]) -> None:
    """Allow pages to show these cases of each check."""

    def load(study: Study) -> AnswerKey:
        shown = {check.name: cases(check) for check in study.checks.values()}
        return replace(load_answer_key(study), shown_cases=shown)

    monkeypatch.setattr(nbgrader_steps, "load_answer_key", load)


def outcome_of(check: str, *edits: tuple[str, str], text: str = REFERENCE):
    """The outcome of a check for the reference with these edits, from the grading step."""
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    with workspace.workspace(STUDY, text) as module:
        return GradingStep(isolation="process").mark(f"study3.{check}", module.parent)


def sentence_of(check: str, *edits: tuple[str, str]) -> str:
    """The text of the divergence; the outcome must not be a known mistake."""
    outcome = outcome_of(check, *edits)
    assert outcome.mistake is None
    assert outcome.divergence is not None
    return outcome.divergence["sentence"]


def test_a_late_cut_is_reported_with_the_bound():
    """A child that the reference prunes is reported with the comparison that prunes it."""
    sentence = sentence_of("type_a_plus", ("if best >= beta:", "if best > beta + 0.25:"))
    assert sentence == (
        "after 0, 6 (depth 2, alpha -inf, beta 1): your search explored cell 7 although 1 equals beta"
    )


def test_an_early_cut_is_reported():
    """A child that only the reference explores is reported."""
    sentence = sentence_of("type_a_plus", ("if best >= beta:", "if best >= beta - 0.2:"))
    assert "your search left out cell" in sentence
    assert "beta" in sentence


def test_a_wrong_estimate_is_reported_where_it_is_made():
    """A wrong leaf value is reported at the leaf, not at the root that it affects."""
    sentence = sentence_of(
        "type_a",
        ("return heuristic(state, player), None", "return heuristic(state, player) / 2, None"),
    )
    assert "this node's value is" in sentence
    assert sentence.startswith("after ")


def test_a_search_that_stops_too_early_is_reported():
    """A node that should be expanded is reported with its depth."""
    sentence = sentence_of(
        "type_a",
        (
            "if depth >= self.limit and is_quiescent(state):",
            "if depth >= self.limit - 1 and state.lanes:",
        ),
    )
    assert re.search(
        r"your search counted no child here, but this node must be expanded: depth (\d) is less "
        r"than the limit \d$",
        sentence,
    )


def test_another_order_is_reported():
    """The first move that is out of order is reported with the one that should come first."""
    mixed = "for move in sorted(state.legal_moves(), key=lambda m: 5 * m % 9):"
    sentence = sentence_of("type_a", ("for move in state.legal_moves():", mixed))
    assert "comes first" in sentence


def test_the_picture_and_the_text_show_the_node():
    """Both forms of the explanation contain the sentence and the board of the node."""
    outcome = outcome_of("type_a_plus", ("if best >= beta:", "if best > beta + 0.25:"))
    text, page = as_text(outcome), as_html(outcome)
    assert outcome.divergence["board"] == "o_oxoxx_x"
    assert "Where your search differs: after 0, 6" in text
    assert "          o|_|o\n          x|o|x\n          x|_|x" in text
    assert "explored cell 7 although 1 equals beta" in page


@pytest.mark.parametrize(
    ("check", "edit", "kind"),
    [
        ("type_a_plus", ("if best >= beta:", "if best > beta + 0.25:"), "must not explore"),
        ("type_a_plus", ("if best >= beta:", "if best >= beta - 0.2:"), "leaves out moves"),
        (
            "type_a",
            ("return heuristic(state, player), None", "return heuristic(state, player) / 2, None"),
            "gives a node a wrong value",
        ),
        (
            "type_a",
            (
                "if depth >= self.limit and is_quiescent(state):",
                "if depth >= self.limit - 1 and state.lanes:",
            ),
            "stops at a node",
        ),
    ],
)
def test_a_position_that_is_not_shown_has_the_kind_alone(check, edit, kind, monkeypatch):
    """The text has no board, move, value or depth from which the position could be inferred."""
    show(monkeypatch, lambda check: frozenset())
    divergence = outcome_of(check, edit).divergence
    assert (divergence["board"], divergence["path"]) == (None, [])
    assert divergence["sentence"].startswith("at a position that is not shown, your search ")
    assert kind in divergence["sentence"]
    assert not any(map(str.isdigit, divergence["sentence"]))


@pytest.mark.parametrize("check", ["type_a", "type_a_plus"])
def test_a_right_search_has_no_divergence(check):
    """A correct search has exactly the reference's tree."""
    assert outcome_of(check).divergence is None


def test_a_known_mistake_has_its_sentence_instead():
    """If the replies are those of a known mistake, its description explains more."""
    known = workspace.module_texts(STUDY)["plus_strict_cut"]
    outcome = outcome_of("type_a_plus", text=known)
    assert outcome.mistake == "plus_strict_cut"
    assert outcome.divergence is None


@pytest.mark.parametrize(
    "trace",
    [
        None,
        3,
        [],
        [None],
        ["x"],
        ["0,None"],
        ["0,None,1", ";;;"],
        ["-1,a,b"],
        ["9,0,1"],
        [[]],
        ["0,None,nan"],
        ["0,None,1;1,99,1"],
        ["0,None," + "9" * 900],
        ["0,a,1;0,b,1"],
    ],
)
def test_a_forged_tree_explains_nothing_or_something_and_never_fails(trace):
    """Whatever the student's process sends, the explanation is a sentence or missing."""
    check = load_check("study3.type_a")
    found = first_divergence(STUDY, check, SMALL, Replies(({"trace": trace},)))
    assert found is None or isinstance(found["sentence"], str)


def test_a_root_that_is_no_node_is_reported():
    """Several outermost calls are reported as such."""
    check = load_check("study3.type_a")
    found = first_divergence(STUDY, check, SMALL, Replies(({"trace": ["0,3,1;0,5,1"]},)))
    assert "called 2 times from outside" in found["sentence"]


# ---- Other conventions, and the terms of each study

NEGAMAX = """
from tictactoe import NodeCounter, Search, counted
class Minimax:
    def search(self, state):
        with NodeCounter() as nodes:
            {result} = self.value(state)
        return Search(move, value, nodes.visited)
    @counted
    def value(self, state):
        if state.is_terminal():
            return {leaf}
        best, best_move = -float('inf'), None
        for move in state.legal_moves():{sloppy}
            {child} = self.value(state.after(move))
            if -value {compare} best:
                best, best_move = -value, move
        return {both}
"""
PLAIN = {
    "result": "value, move",
    "leaf": "state.utility(state.to_move), None",
    "sloppy": "",
    "child": "value, _",
    "compare": ">",
    "both": "best, best_move",
}
PAIRS = {
    "result": "move, value",
    "leaf": "None, state.utility(state.to_move)",
    "child": "_, value",
    "both": "best_move, best",
}


def divergence_of(study: str, check: str, text: str) -> dict | None:
    """The divergence in a module's outcome, which must not have full marks."""
    loaded = load_study(study)
    with workspace.workspace(loaded, text) as module:
        outcome = GradingStep(isolation="process").mark(f"{study}.{check}", module.parent)
    assert not outcome.full
    return outcome.divergence


@pytest.mark.parametrize("order", [{}, PAIRS], ids=["value, move", "move, value"])
def test_negamax_is_compared_from_its_own_view(order):
    """A negamax that omits moves gets a message about them, not about signs or pairs."""
    sloppy = "\n            if move == 8 and len(state.legal_moves()) == 3: continue"
    found = divergence_of(
        "study1", "minimax", NEGAMAX.format(**{**PLAIN, **order, "sloppy": sloppy})
    )
    assert "your search left out cell 8" in found["sentence"]


def test_values_of_an_unclear_view_are_not_called_wrong():
    """If many signs are wrong, the view is not known, so only the reported move is."""
    leaf = "state.utility(state.to_move) * (-1 if '_' in state.text else 1), None"
    found = divergence_of("study1", "minimax", NEGAMAX.format(**{**PLAIN, "leaf": leaf}))
    assert found["sentence"].startswith("your search visits the right nodes. The move differs")


def test_study_1_hears_nothing_of_depth_and_bounds():
    """Explanations use no terms that the study has not introduced."""
    leaf = "state.utility(state.to_move) and -1 or 0, None"
    sloppy = "\n            if move == 8: continue"
    for change in ({"leaf": leaf.replace("-1", "-2")}, {"sloppy": sloppy}):
        sentence = divergence_of("study1", "minimax", NEGAMAX.format(**PLAIN | change))["sentence"]
        assert not any(
            word in sentence for word in ("depth", "alpha", "beta", "limit", "heuristic", "None")
        )


def test_a_correct_tree_with_another_move_is_reported():
    """If only the choice among equal moves is wrong, the tree is reported as correct."""
    found = divergence_of(
        "study1",
        "minimax",
        NEGAMAX.format(**{**PLAIN, "compare": ">="}).replace(
            "value = self.value(state)", "value = (self.value(state)[0], self.value(state)[1])"
        ),
    )
    assert found is None or found["board"] is None


def test_an_own_counter_is_reported():
    """Without `@counted` there is no tree, and the message explains what to do."""
    text = NEGAMAX.format(**PLAIN).replace("    @counted\n", "")
    found = divergence_of("study1", "minimax", text)
    assert found["board"] is None
    assert "no call was counted: put `@counted`" in found["sentence"]


def test_a_search_that_is_right_alone_keeps_something():
    """An agent that counts one node too many from its second search on is correct in its first."""
    text = (
        NEGAMAX.format(**PLAIN)
        .replace(
            "        with NodeCounter() as nodes:",
            "        self.searches = vars(self).get('searches', -1) + 1\n"
            "        with NodeCounter() as nodes:",
        )
        .replace("nodes.visited", "nodes.visited + (self.searches > 0)")
    )
    found = divergence_of("study1", "minimax", text)
    assert "gets the right result, so the result depends on something else" in found["sentence"]


def test_a_state_visited_twice_has_no_move():
    """A counted function that calls a counted one for the same state gets a message about
    `@counted`.
    """
    text = NEGAMAX.format(**PLAIN).replace("{result}", "").replace(
        "= self.value(state)\n", "= self.twice(state)\n"
    ) + ("    @counted\n    def twice(self, state):\n        return self.value(state)\n")
    sentence = divergence_of("study1", "minimax", text)["sentence"]
    assert "visited this state once more, without a move" in sentence


def test_a_table_that_forgets_has_its_own_message():
    """Recomputing a state that is in the table is not reported as wrong move ordering."""
    text = workspace.module_texts(load_study("study1"))["reference"].replace(
        "if (state, player) not in self.table:",
        "if (state, player) not in self.table or len(state.legal_moves()) == 1:",
    )
    assert "in the table already" in divergence_of("study1", "tabular", text)["sentence"]


def test_values_beyond_the_window_are_bounds():
    """Fail-hard values are no divergence; only a different search is."""
    text = (
        workspace.module_texts(load_study("study2"))["reference"]
        .replace(
            "        return best, best_move", "        return max(low, min(best, high)), best_move"
        )
        .replace("        best_move = None\n", "        best_move, low, high = None, alpha, beta\n")
        .replace(
            "return state.utility(player), None",
            "return max(alpha, min(state.utility(player), beta)), None",
        )
        .replace("                if best <= alpha:", "                if best < alpha:")
    )
    assert " equals alpha" in divergence_of("study2", "alpha_beta", text)["sentence"]


@pytest.mark.parametrize(
    ("reference", "answer", "sentence"),
    [
        ("at", "beyond", "your search explored cell 4 although 1 equals alpha"),
        (
            "beyond",
            "at",
            "the moves after it (or did not count them), although 1 only equals alpha",
        ),
    ],
)
def test_the_reason_for_a_cut_is_true_in_the_variant(
    tmp_path, monkeypatch, reference, answer, sentence
):
    """Whether a value that equals the bound causes a cut depends on the variant of study 2."""
    study = load_study("study2")
    table = read_variants(study)
    texts = {
        word: answer_to(study, table, {"cut": f"{word} the bound"}) for word in ("at", "beyond")
    }
    path, module = tmp_path / "alphabeta.py", ModuleType("answer")
    path.write_text(texts[reference], "utf-8")
    exec(texts[answer], vars(module))
    monkeypatch.setattr("autograder.grading.verdict.divergence.answer_path", lambda study: path)
    check = study.checks["alpha_beta"]
    case = {**SMALL.case, "question": {"agent": "AlphaBeta", "on": "oox__x_xo"}}
    (question,) = trace_check(check, case["question"]).cases
    replies = Replies((reply(module, "trace", question),))
    found = first_divergence(study, check, replace(SMALL, check=check.id, case=case), replies)
    assert sentence in found["sentence"]


def test_a_mistake_that_is_wrong_alone_is_not_named_for_one_that_is_not():
    """An agent that is correct in isolation but replies as with a fixed limit shares state."""
    text = (
        workspace.module_texts(STUDY)["reference"]
        .replace("class TypeA:", "LIMIT = {}\n\n\nclass TypeA:")
        .replace(
            "        self.limit = limit\n\n    def choose",
            "        LIMIT[0] = limit\n\n"
            "    limit = property(lambda self: LIMIT[0])\n\n    def choose",
            1,
        )
    )
    outcome = outcome_of("type_a", text=text)
    assert "limit_is_always_two" not in outcome.matching
    assert "limit_shared_by_all" in outcome.matching


# ---- Study 4: several limits, windows, tables, killers and budgets

DEEPENING = workspace.module_texts(load_study("study4"))["reference"]
NEXT_LIMIT = "value, move = self.value(state, 0, -inf, inf)\n                    self.log"


@pytest.mark.parametrize(
    ("check", "old", "new", "parts"),
    [
        (
            "deepening",
            NEXT_LIMIT,
            NEXT_LIMIT.replace("-inf, inf", "-0.9, 0.9"),
            ["in the search to limit ", "with alpha = -0.9 and beta = 0.9, but alpha = -inf and"],
        ),
        (
            "both",
            "promoted(super().moves(state, depth), [entry.move] if entry else [])",
            "promoted(list(self.order(state)), [entry.move] if entry else [])",
            ["in the right search, move ", " is the latest killer of this depth"],
        ),
        (
            "table",
            "return promoted(super().moves(state, depth), [entry.move] if entry else [])",
            "return list(super().moves(state, depth))",
            ["in the right search, move ", " is the table's move"],
        ),
        (
            "deepening",
            "            raise OutOfNodes\n",
            "            return 0.25, None\n",
            ["returned 0.25 here, but it must raise `OutOfNodes`, because the budget of"],
        ),
        (
            "deepening",
            ">= self.budget",
            ">= self.budget - 3",
            ["raised an error or returned no value here", "and the budget is"],
        ),
        (
            "deepening",
            "if abs(value) >= 1:",
            "if abs(value) >= 0.2:",
            ["your search ended with limit", "must begin as well"],
        ),
        (
            "deepening",
            "if abs(value) >= 1:",
            "if abs(value) >= 99:",
            ["began another search after limit", "is final"],
        ),
        (
            "limited",
            "            if best >= beta:",
            "            if best > beta + 0.01:",
            ["your search explored move", ">= beta"],
        ),
        (
            "table",
            "        if entry is not None and answers(entry, left, alpha, beta):",
            "        if entry is not None and depth < 3 and answers(entry, left, alpha, beta):",
            ["but the entry of this state in the table answers here"],
        ),
        (
            "limited",
            "return self.evaluate(state, state.to_move), None",
            "return self.evaluate(state, state.to_move) / 3, None",
            ["because the search ends here and this is the estimate, but"],
        ),
        (
            "table",
            "            return entry.value, entry.move\n",
            "            return entry.value, (entry.move if depth else None)\n",
            ["visits the right nodes and finds the right value of each. Only `again` differs"],
        ),
    ],
)
def test_the_searches_of_study_4_are_compared_node_by_node(check, old, new, parts):
    """The sentence names the limit and the reason; each reason follows from the reference's tree."""
    assert DEEPENING.count(old) == 1
    sentence = deepening_divergence(check, DEEPENING.replace(old, new))
    assert all(part in sentence for part in parts), sentence
    assert divergence_kind(sentence) is not None


def deepening_divergence(check: str, text: str) -> str:
    """The text of the divergence in a module of study 4, without any known mistake."""
    study = load_study("study4")
    expected, _ = load_expected(study.expected_file, study.checks.values())
    each = study.checks[check]
    replies = workspace.run_check(study, text, each, 10)
    outcome = mark(each, replies, expected[check], ())
    trace = workspace.run_check(study, text, trace_check(each, outcome.case["question"]), 10)
    return first_divergence(study, each, outcome, trace)["sentence"]


@pytest.mark.parametrize("check", ["limited", "killers", "table", "both", "deepening", "together"])
@pytest.mark.parametrize("answer", ["reference", "second"])
def test_right_searches_of_study_4_have_no_difference(check, answer):
    """The trees of right answers are the same in every case, so no sentence can be false."""
    study = load_study("study4")
    module = ModuleType("answer")
    exec(workspace.module_texts(study)[answer], vars(module))
    each = study.checks[check]
    for case in each.cases:
        question = {**each.settings, **case}
        reference = reference_searches(workspace.answer_path(study), each.ask, question)
        theirs = RECORDERS[each.ask](module, **question)
        trees = read_trees(SEPARATOR.join(node_texts(theirs.trees)))
        add_windows(trees, window_texts(theirs.trees))
        assert first_difference(reference, trees, theirs.ends) is None


# ---- Values of single nodes

BOARD = "xo_xo____"  # x to move wins; one of the moves is a loss


def small_tree() -> Visit:
    """The tree of minimax on a small board."""
    return _reference_tree(workspace.answer_path(load_study("study1")), "Minimax", BOARD, ())


def value_divergence(
    change: Callable[[Visit, str], str], wrong: str = "nodes", **reply: object
) -> str:
    """The text of the divergence for the tree of minimax in which the values are changed: `change`
    is called with each node and its text. The aspect `wrong` is wrong.
    """
    study, tree = load_study("study1"), small_tree()

    def nodes(visit: Visit) -> Iterator[Visit]:
        yield visit
        for child in visit.children:
            yield from nodes(child)

    texts = [
        text.rpartition(",")[0] + "," + change(visit, text.rpartition(",")[2])
        for visit, text in zip(nodes(tree), node_texts([tree]), strict=True)
    ]
    right = {"move": 6, "value": 1, "nodes": len(texts)}
    case = {
        "question": {"agent": "Minimax", "on": BOARD},
        "errors": {},
        "expected": {**right, "at_min": 0},
        "got": {**right, "at_min": 0, wrong: 1},
    }
    observation = {"trace": [SEPARATOR.join(texts)], "found": [6, 1, 1], **reply}
    outcome = replace(SMALL, check="study1.minimax", case=case)
    found = first_divergence(study, study.checks["minimax"], outcome, Replies((observation,)))
    return found["sentence"] if found else ""


def negative(value: str) -> str:
    """A value with the other sign."""
    return repr(-float(value))


# Moves of the root with a value, and whether one of the opponent's moves has the opposite value.
MOVES = [
    (child.move, any(below.value == -child.value for below in child.children))
    for child in small_tree().children
    if child.value and child.children
]


def test_a_value_is_explained_by_the_end_of_the_game():
    """The sentence has the right value, the reason for it, and what the search returned."""
    sentence = value_divergence(
        lambda node, value: negative(value) if node.depth == 1 and node.move == 6 else value
    )
    assert sentence == (
        "after 6: this node's value is 1, because the game is over and this is the utility, but "
        "your search returned -1.0, so its sign is reversed"
    )


@pytest.mark.parametrize(("move", "has_other"), MOVES)
def test_a_sign_is_not_called_reversed_if_a_move_has_the_value(move, has_other):
    """Another move may have been preferred, if it has the opposite value."""
    sentence = value_divergence(
        lambda node, value: negative(value) if (node.depth, node.move) == (1, move) else value
    )
    assert "because the best move explored here, cell " in sentence
    assert sentence.endswith("; the values of its moves are right")
    assert ("sign is reversed" in sentence) != has_other


@pytest.mark.parametrize(
    "change",
    [
        lambda node, value: "None",
        lambda node, value: "Frame(state=1)" if node.depth else value,
        lambda node, value: "None" if node.children else value,
        lambda node, value: negative(value) if (node.move or 0) % 2 else value,
    ],
    ids=["no values", "frames", "exceptions", "mixed signs"],
)
def test_values_that_cannot_be_read_are_not_mentioned(change):
    """Nothing is said about values if they are missing, no numbers, or of an unclear view."""
    assert re.fullmatch(
        r"your search visits the right nodes\. The number of nodes differs: .+",
        value_divergence(change),
    )


def test_the_first_search_is_not_said_to_have_right_values_if_they_are_not_known():
    """Only its result is known to be right."""
    sentence = value_divergence(
        lambda node, value: "None" if node.children else value, "at_min", found=[6, 1, 0]
    )
    assert sentence.startswith(
        "the first search visits the right nodes and reports the right result"
    )


def test_a_search_that_ended_with_an_error_has_no_value_where_it_ended():
    """Without a result, a missing value is due to an error; without any value, nothing is known."""
    assert "raised an error or returned no value here" in value_divergence(
        lambda node, value: "None" if node.depth == 0 else value, found=None
    )
    assert value_divergence(lambda node, value: "None", found=None) == ""


def test_a_left_out_move_has_the_next_move_and_no_claim_about_others():
    """Whether it is the last one is stated only if it is."""
    assert skipped_move(3, "5", is_last=False).endswith("explored cell 5 next")
    assert skipped_move(3, "5", is_last=True).endswith(
        "explored cell 5 next and no other move after it"
    )


def test_a_search_without_recursion_is_not_said_to_stop_at_a_node():
    """A loop with a stack visits the states in one call, so the tree is not recorded."""
    path = workspace.answer_path(load_study("study1")).parent / "outsiders"
    text = (path / "explicit_stack_of_class.py").read_text("utf-8")
    sentence = local_divergence(
        "study1", "minimax", ("nodes.visited)", "nodes.visited + (nodes.visited > 9))"), text=text
    )
    assert sentence == NOT_RECURSIVE  # without the place of a node
    assert divergence_kind(sentence) is not None


# ---- Sentences that are not shown when they are not true

MINIMAX = workspace.module_texts(load_study("study1"))["reference"]
COUNTED = "    @counted\n    def value"
STORES = "    @__import__('functools').lru_cache(None)\n"
LEAF = "return state.utility(player), None"


def local_divergence(study: str, check: str, *edits: tuple[str, str], text: str = MINIMAX) -> str:
    """The text of the divergence on the public boards, or "". Each edit is made once."""
    loaded, module = load_study(study), ModuleType("answer")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    exec(text, vars(module))
    expected, _ = load_expected(loaded.expected_file, loaded.checks.values())
    whole = loaded.checks[check]
    numbers = [n for n, case in enumerate(whole.cases) if not case["on"].startswith("tree")]
    each = replace(whole, cases=[whole.cases[number] for number in numbers])
    replies = tuple(reply(module, each.ask, {**each.settings, **case}) for case in each.cases)
    outcome = mark(each, Replies(replies), [expected[check][number] for number in numbers], ())
    assert not outcome.full
    (case,) = trace_check(each, outcome.case["question"]).cases
    found = first_divergence(loaded, each, outcome, Replies((reply(module, "trace", case),)))
    return found["sentence"] if found else ""


@pytest.mark.parametrize(
    "where", [STORES + COUNTED, COUNTED.replace("    def", STORES + "    def")]
)
def test_a_stored_result_is_not_called_a_cut(where):
    """A state that was visited before may be missing because its result is stored."""
    sentence = local_divergence("study1", "minimax", (COUNTED, where))
    assert "cut" not in sentence
    assert "may have used a stored result" in sentence or "depends on something else" in sentence


def test_a_search_that_leaves_out_a_new_state_is_not_said_to_store_anything():
    """A state that was not visited before cannot be missing because of a stored result."""
    sentence = local_divergence(
        "study1",
        "minimax",
        ("for move in state.legal_moves():", "for move in state.legal_moves()[:1]:"),
    )
    assert "left out" in sentence and "stored" not in sentence


def test_children_that_are_not_counted_are_not_said_to_be_left_out():
    """The trace contains only counted calls, so the sentence mentions both possibilities."""
    edit = "value, _ = self.value(state.after(move), player)"
    new = (
        "a = state.after(move); "
        "value = a.utility(player) if a.is_terminal() else self.value(a, player)[0]"
    )
    sentence = local_divergence("study1", "minimax", (edit, new), (edit, new))
    assert "your search counted no child here" in sentence or "(or did not count it)" in sentence


@pytest.mark.parametrize(
    "number", ["__import__('fractions').Fraction({})", "bool({}) if {} >= 0 else {}", "float({})"]
)
def test_a_value_of_another_numeric_type_is_no_difference(number):
    """Only the order is wrong here, so no value is said to differ from the same number."""
    value = number.replace("{}", "state.utility(player)")
    order = "for move in state.legal_moves():", "for move in state.legal_moves()[::-1]:"
    sentence = local_divergence("study1", "minimax", (LEAF, f"return {value}, None"), order)
    assert "comes first" in sentence and "value" not in sentence


def test_a_method_that_is_wrong_when_it_is_called_directly_has_no_table_to_look_at():
    """`Minimax` stores nothing, so its difference is not said to depend on a table."""
    edits = (
        ("    def value(self, state, player):\n", "    def value(self, state, player):\n"
         "        player = player if hasattr(self, 'opened') else state.to_move\n"),
        ("            value, move = self.value", "            self.opened = 1\n"
         "            value, move = self.value"),
    )  # fmt: skip
    sentence = local_divergence("study1", "minimax", *edits)
    assert sentence.endswith("in a call of `value` for the player who is not to move")
    assert "table" not in sentence


def test_an_error_in_a_direct_call_has_no_other_explanation():
    """The error is shown with its message, and nothing is said about memory."""
    fails = "    def value(self, state, player):\n        self.opened\n"
    edits = (
        ("    def value(self, state, player):\n", fails),
        ("            value, move = self.value", "            self.opened = 1\n"
         "            value, move = self.value"),
    )  # fmt: skip
    assert local_divergence("study1", "minimax", *edits) == ""


def test_a_reversed_sign_is_no_rounding():
    """Values of the same size and opposite sign are not called equal except for the last digits."""
    assert rounding_note([1.0], [-1.0], 1) == ""
    assert rounding_note([1.0], [1.0], 1) == ""
    assert rounding_note([None, 0.5], [1.0, None], 1) == ""
    for sign in (1, -1):
        assert "0.30000000000000004" in rounding_note([0.3], [sign * (0.1 + 0.2)], sign)


def test_a_result_that_is_right_alone_may_be_due_to_chance():
    """Random moves are not called memory."""
    assert "chance" in CORRECT_IN_ISOLATION and "table" not in CORRECT_IN_ISOLATION


def test_several_differences_are_not_called_the_only_one():
    """If the count and the value differ, neither is the only difference."""
    edit = "return Search(move, value, nodes.visited)"
    both = local_divergence(
        "study1", "minimax", (edit, "return Search(move, value + 1, nodes.visited + 1)")
    )
    assert "number of nodes differs" in both and "different value" in both
    assert "Only" not in both


def test_every_kind_of_sentence_can_be_described_without_its_position():
    """Sentences about hidden positions are replaced by their kind, which has no numbers."""
    assert not any(any(map(str.isdigit, kind)) for kind in SENTENCE_KINDS.values())
