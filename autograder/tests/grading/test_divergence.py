"""The first divergence: where a search that is no known slip leaves the reference's."""

import pytest

from autograder import workspace
from autograder.grading import verdict
from autograder.grading.divergence import first_divergence
from autograder.grading.nbgrader_steps import GradingStep
from course.probes import load_check, load_study
from course.probes.explain import as_html, as_text
from course.probes.outcome import Outcome
from course.probes.replies import Replies

STUDY = load_study("study3")
SMALL = Outcome(
    "study3.type_a",
    False,
    (),
    None,
    {
        "asked": {"agent": "TypeA", "limit": 2, "on": "xox_o_x_o"},
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
    """Any hidden case may explain a check here, and so the smallest does."""
    monkeypatch.setattr(verdict, "shown_cases", lambda check: frozenset(range(len(check.cases))))


def outcome_of(check: str, *edits: tuple[str, str], text: str = REFERENCE):
    """The outcome of one check for the reference with these edits, through the grading step."""
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    with workspace.workspace(STUDY, text) as module:
        return GradingStep(isolation="process").mark(f"study3.{check}", module.parent)


def sentence_of(check: str, *edits: tuple[str, str]) -> str:
    """The sentence of the divergence; the outcome must be no known slip."""
    outcome = outcome_of(check, *edits)
    assert outcome.slip is None
    assert outcome.divergence is not None
    return outcome.divergence["sentence"]


def test_a_late_cut_is_told_with_the_bound():
    """A child that the reference prunes is named with the comparison that prunes it."""
    sentence = sentence_of("type_a_plus", ("if best >= beta:", "if best > beta + 0.25:"))
    assert sentence == (
        "after 0, 6 (depth 2, alpha -inf, beta 1): your search explored cell 7 although 1 >= beta 1"
    )


def test_an_early_cut_is_told():
    """A child that the reference explores and the student does not is named."""
    sentence = sentence_of("type_a_plus", ("if best >= beta:", "if best >= beta - 0.2:"))
    assert "your search left out cell" in sentence
    assert "beta" in sentence


def test_a_wrong_estimate_is_told_where_it_is_made():
    """A leaf's value that differs is told at the leaf, and not at the root that it spoils."""
    sentence = sentence_of(
        "type_a",
        ("return heuristic(state, player), None", "return heuristic(state, player) / 2, None"),
    )
    assert "this node's value is" in sentence
    assert sentence.startswith("after ")


def test_a_search_that_stops_too_early_is_told():
    """A node that must be expanded, and is not, is told with its depth."""
    sentence = sentence_of(
        "type_a",
        (
            "if depth >= self.limit and is_quiescent(state):",
            "if depth >= self.limit - 1 and len(state.text) == 9:",
        ),
    )
    assert sentence.endswith(
        "your search stopped here, but this node must be expanded: depth 0 is less than the limit 1"
    )


def test_another_order_is_told():
    """The first move that is out of order is named beside the one that comes first."""
    mixed = "for move in sorted(state.legal_moves(), key=lambda m: 5 * m % 9):"
    sentence = sentence_of("type_a", ("for move in state.legal_moves():", mixed))
    assert "comes first" in sentence


def test_the_picture_and_the_text_show_the_node():
    """Both forms of the explanation have the sentence, and the board of the node."""
    outcome = outcome_of("type_a_plus", ("if best >= beta:", "if best > beta + 0.25:"))
    text, page = as_text(outcome), as_html(outcome)
    assert outcome.divergence["board"] == "o_oxoxx_x"
    assert "Where your search first differs: after 0, 6" in text
    assert "          o|_|o\n          x|o|x\n          x|_|x" in text
    assert "explored cell 7 although 1 &gt;= beta 1" in page


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
                "if depth >= self.limit - 1 and len(state.text) == 9:",
            ),
            "stops at a node",
        ),
    ],
)
def test_a_position_that_is_not_shown_has_the_kind_alone(check, edit, kind, monkeypatch):
    """Without a board, a move, a value or a depth, from which the position could follow."""
    monkeypatch.setattr(verdict, "shown_cases", lambda check: frozenset())
    divergence = outcome_of(check, edit).divergence
    assert (divergence["board"], divergence["path"]) == (None, [])
    assert divergence["sentence"].startswith("at a position that is not shown, your search ")
    assert kind in divergence["sentence"]
    assert not any(map(str.isdigit, divergence["sentence"]))


@pytest.mark.parametrize("check", ["type_a", "type_a_plus"])
def test_a_right_search_has_no_divergence(check):
    """The reference's own tree is the reference's tree."""
    assert outcome_of(check).divergence is None


def test_a_known_slip_has_its_sentence_instead():
    """Where the replies are those of a known slip, its sentence explains more."""
    known = workspace.module_texts(STUDY)["plus_strict_cut"]
    outcome = outcome_of("type_a_plus", text=known)
    assert outcome.slip == "plus_strict_cut"
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
    """Whatever comes from the student's process, the explanation is a sentence or none."""
    check = load_check("study3.type_a")
    found = first_divergence(check, SMALL, Replies(({"trace": trace},)))
    assert found is None or isinstance(found["sentence"], str)


def test_a_root_that_is_no_node_is_told():
    """Several outermost calls are told as what they are."""
    check = load_check("study3.type_a")
    found = first_divergence(check, SMALL, Replies(({"trace": ["0,3,1;0,5,1"]},)))
    assert "called 2 times from outside" in found["sentence"]


# ---- Other conventions, and the words of each study

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


def told_of(study: str, check: str, text: str) -> dict | None:
    """The divergence of a module's outcome, which must not be all right."""
    loaded = load_study(study)
    with workspace.workspace(loaded, text) as module:
        outcome = GradingStep(isolation="process").mark(f"{study}.{check}", module.parent)
    assert not outcome.full
    return outcome.divergence


@pytest.mark.parametrize("order", [{}, PAIRS], ids=["value, move", "move, value"])
def test_negamax_is_compared_from_its_own_view(order):
    """A negamax that leaves moves out is told about these, and not about signs or pairs."""
    sloppy = "\n            if move == 8 and len(state.legal_moves()) == 3: continue"
    found = told_of("study1", "minimax", NEGAMAX.format(**{**PLAIN, **order, "sloppy": sloppy}))
    assert "your search left out cell 8" in found["sentence"]


def test_a_wrong_sign_is_told_where_it_is_turned():
    """A leaf from the other player's view, in a negamax, is a sign turned round at that leaf."""
    leaf = "state.utility(state.to_move) * (-1 if len(state.text.strip('xo')) == 0 else 1), None"
    found = told_of("study1", "minimax", NEGAMAX.format(**{**PLAIN, "leaf": leaf}))
    assert "its sign is turned round; the game is over here" in found["sentence"]
    assert "the view of the player to move in each node" in found["sentence"]


def test_study_1_hears_nothing_of_depth_and_bounds():
    """Words that a study has not introduced are not in its explanations."""
    leaf = "state.utility(state.to_move) and -1 or 0, None"
    sloppy = "\n            if move == 8: continue"
    for change in ({"leaf": leaf.replace("-1", "-2")}, {"sloppy": sloppy}):
        sentence = told_of("study1", "minimax", NEGAMAX.format(**PLAIN | change))["sentence"]
        assert not any(
            word in sentence for word in ("depth", "alpha", "beta", "limit", "heuristic", "None")
        )


def test_a_right_tree_with_another_move_is_told_so():
    """Where only the choice among equal moves is wrong, the tree is called right."""
    found = told_of(
        "study1",
        "minimax",
        NEGAMAX.format(**{**PLAIN, "compare": ">="}).replace(
            "value = self.value(state)", "value = (self.value(state)[0], self.value(state)[1])"
        ),
    )
    assert found is None or found["board"] is None


def test_an_own_counter_is_told():
    """Without `@counted` there is no tree, and the sentence says what to do."""
    text = NEGAMAX.format(**PLAIN).replace("    @counted\n", "")
    found = told_of("study1", "minimax", text)
    assert found["board"] is None
    assert "no call was counted: put `@counted`" in found["sentence"]


def test_a_search_that_is_right_alone_keeps_something():
    """A counter that belongs to the agent is right in its first search."""
    text = NEGAMAX.format(**PLAIN).replace(
        "        with NodeCounter() as nodes:",
        "        self.nodes = nodes = vars(self).get("
        "'nodes') or NodeCounter()\n        with nodes:",
    )
    found = told_of("study1", "minimax", text)
    assert "keeps something from an earlier search" in found["sentence"]


def test_a_state_visited_twice_has_no_move():
    """A counted function that calls a counted one for the same state is told about `@counted`."""
    text = NEGAMAX.format(**PLAIN).replace("{result}", "").replace(
        "= self.value(state)\n", "= self.twice(state)\n"
    ) + ("    @counted\n    def twice(self, state):\n        return self.value(state)\n")
    sentence = told_of("study1", "minimax", text)["sentence"]
    assert "visited this state once more, without a move" in sentence


def test_a_table_that_forgets_is_told_in_its_own_words():
    """A state that is computed anew, although it is in the table, is no matter of order."""
    text = workspace.module_texts(load_study("study1"))["reference"].replace(
        "if (state, player) not in self.table:",
        "if (state, player) not in self.table or len(state.legal_moves()) == 1:",
    )
    assert "in the table already" in told_of("study1", "tabular", text)["sentence"]


def test_values_beyond_the_window_are_bounds():
    """Fail-hard values are no divergence: that comes where the search itself is another."""
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
    assert "<= alpha" in told_of("study2", "alpha_beta", text)["sentence"]


def test_a_slip_that_is_wrong_alone_is_not_named_for_one_that_is_not():
    """Replies as of a fixed limit, by an agent that is right alone: it shares something."""
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
