"""From the user's words to a brief and a plan that the limits allow."""

import re
from dataclasses import replace
from datetime import date

from deepwell.analyst.protocol import Analyst
from deepwell.configuration import MAX_QUESTION_CHARACTERS, Configuration
from deepwell.errors import BadRequest
from deepwell.vocabulary.plan import Plan, Query, SubQuestion
from deepwell.vocabulary.question import Clarification, Conversation, Intake

# Control characters and the stand-ins for undecodable bytes; tabs and newlines are ordinary.
_BINARY = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff�]")


def accepted_question(text: str) -> str:
    """The question as it will be researched. Raises BadRequest when there is none in it."""
    question = text.strip()
    if not question:
        raise BadRequest('The question is empty: ask something, for example deepwell "Who built it?" --docs DIR.')
    if _BINARY.search(question):
        raise BadRequest("The question holds binary data: give it as plain text, and documents with --docs.")
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise BadRequest(
            f"The question has {len(question):,} characters and may have {MAX_QUESTION_CHARACTERS:,}: "
            "put long material into a file and give its folder with --docs."
        )
    if not any(character.isalnum() for character in question):
        raise BadRequest("The question has no words in it: ask something in plain language.")
    return question


async def take_in(
    conversation: Conversation, analyst: Analyst, configuration: Configuration, today: date
) -> Clarification | Intake:
    """Ask the analyst, then hold its plan to the limits of the tier."""
    proposed = await analyst.take_in(conversation, today)
    if isinstance(proposed, Clarification):
        return proposed
    limits = configuration.for_tier(proposed.tier) if configuration.tier == "auto" else configuration
    return replace(proposed, plan=_trimmed(proposed.plan, proposed.brief.question, limits))


def _trimmed(plan: Plan, question: str, configuration: Configuration) -> Plan:
    """At most so many sub-questions and searches, numbered in order; an empty plan is the question itself."""
    wanted = plan.subquestions[: configuration.max_subquestions] or (SubQuestion("sq-1", question),)
    return Plan(tuple(_part(i, part, configuration) for i, part in enumerate(wanted, start=1)))


def _part(number: int, part: SubQuestion, configuration: Configuration) -> SubQuestion:
    queries = tuple(dict.fromkeys(part.queries)) or (Query(part.text),)
    return replace(part, id=f"sq-{number}", queries=queries[: configuration.queries_per_subquestion])
