"""All questions that checks can ask, by name; there is a module for each subject."""

from course.probes.question import Question
from course.probes.questions import evaluator, league, learning, lookahead, sarsa, searches, type_a

QUESTIONS: dict[str, Question] = (
    searches.QUESTIONS | type_a.QUESTIONS | learning.QUESTIONS | evaluator.QUESTIONS
    | lookahead.QUESTIONS | sarsa.QUESTIONS | league.QUESTIONS)

MATCHES = frozenset(name for name, question in QUESTIONS.items() if question.is_match)

# Asked for explanations and never for marks; "trace" replies with more than a mark needs.
EXPLANATIONS: dict[str, Question] = searches.EXPLANATIONS
