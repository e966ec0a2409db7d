"""What a model fills in or calls, each form beside the prompt of its name; the descriptions are sent along."""

from typing import Annotated

from pydantic import BaseModel, Field

from deepwell.models.shapes import Form, Prose, Toolbox

# Bounds are told to servers that make a grammar of the schema, where a very small model would never come to an end.
# They are not checked: a longer reply is welcome, and cut where it is used.
Word = Annotated[str, Field(json_schema_extra={"maxLength": 40})]
Line = Annotated[str, Field(json_schema_extra={"maxLength": 200})]
Text = Annotated[str, Field(json_schema_extra={"maxLength": 3000})]


class PreferencesForm(BaseModel):
    """How the user wants the report to be, as far as the request says so."""

    length: Word = Field(default="standard", description="short, standard or long")
    audience: Line = Field(default="", description="for whom it is written, if it says so")
    format: Line = Field(default="", description="the form asked for, such as a list, if it says so")
    tables: bool | None = Field(default=None, description="only if the request asks for tables or forbids them")
    language: Word = Field(default="", description="that of the question unless it asks for another")


class SubQuestionForm(BaseModel):
    """One part of the question that can be looked into by itself."""

    question: Line = Field(description="a full question that can be understood without the others")
    searches: list[Line] = Field(
        default_factory=list,
        description="two to four short searches, differing in words",
        json_schema_extra={"maxItems": 4},
    )
    settled_by: Line = Field(default="", description="what a passage must say for this to be settled")


class IntakeForm(BaseModel):
    """What the question means and how its answer is looked for."""

    clarification: Line = Field(default="", description="a question back to the user; empty unless indispensable")
    kind: Word = Field(default="survey", description="fact, survey, comparison, multi-part, chain, timeline or how-to")
    tier: Word = Field(default="", description="how much work it is: simple, standard, deep or exhaustive")
    assumptions: list[Line] = Field(
        default_factory=list,
        description="how the question was read where it is open",
        json_schema_extra={"maxItems": 6},
    )
    must_cover: list[Line] = Field(
        default_factory=list, description="names and terms an answer has to speak of", json_schema_extra={"maxItems": 6}
    )
    preferences: PreferencesForm = PreferencesForm()
    subquestions: list[SubQuestionForm] = Field(
        description="one to six parts, the most important first", json_schema_extra={"maxItems": 6, "minItems": 1}
    )


class ConductResearchForm(BaseModel):
    """Send a researcher to find this out."""

    research_topic: Line = Field(description="a full question or a short instruction, understandable by itself")
    subquestion: Word = Field(default="", description="the id of the sub-question that this serves, such as sq-2")
    gap: Line = Field(default="", description="what is missing so far")
    searches: list[Line] = Field(
        default_factory=list, description="one to four short searches to start with", json_schema_extra={"maxItems": 4}
    )


class ResearchCompleteForm(BaseModel):
    """Enough is known to write the report."""

    confidence: float = Field(default=0.5, description="from 0 to 1: how well the question can be answered now")
    gaps: list[Line] = Field(
        default_factory=list, description="what stays open all the same", json_schema_extra={"maxItems": 6}
    )


class ThinkForm(BaseModel):
    """Note down a reflection before deciding."""

    reflection: Text = ""


class SearchForm(BaseModel):
    """Search, when what is at hand does not answer the topic."""

    query: Line = Field(description="a few words that the wanted passage would contain")


class FetchForm(BaseModel):
    """Read one of the listed addresses in full."""

    address: Line


class FindingsForm(BaseModel):
    """What the passages say to the topic, and what they leave open."""

    answer: Text = Field(description="short factual sentences, each ending with its passages, as [2] or [1][3]")
    gaps: list[Line] = Field(
        default_factory=list,
        description="what of the topic stays open; empty when it is settled",
        json_schema_extra={"maxItems": 6},
    )


class SectionForm(BaseModel):
    """One part of the report."""

    heading: Line
    purpose: Line = Field(default="", description="what this part tells the reader, in one sentence")
    claims: list[int] = Field(
        default_factory=list, description="the numbers of the claims it rests on", json_schema_extra={"maxItems": 40}
    )


class OutlineForm(BaseModel):
    """The parts of the report in order."""

    title: Line = Field(default="", description="a title that says what the report answers")
    answerable: bool = Field(default=True, description="false only if not one claim speaks to the question")
    missing: list[Line] = Field(
        default_factory=list, description="what is missing, if it is not answerable", json_schema_extra={"maxItems": 6}
    )
    sections: list[SectionForm] = Field(
        description="the first one answers the question directly", json_schema_extra={"maxItems": 6, "minItems": 1}
    )
    open_heading: Line = Field(default="", description="a heading for what stays open, in the language of the report")


TAKE_IN = Form("take_in", IntakeForm)
SUPERVISE = Toolbox(
    "supervise",
    {"ConductResearch": ConductResearchForm, "ResearchComplete": ResearchCompleteForm, "think_tool": ThinkForm},
)
INVESTIGATE = Toolbox(
    "investigate",
    {"search_web": SearchForm, "fetch_url": FetchForm, "think_tool": ThinkForm, "report_findings": FindingsForm},
)
INVESTIGATE_WITHOUT_SEARCH = Toolbox(
    INVESTIGATE.name, {name: form for name, form in INVESTIGATE.tools.items() if name != "search_web"}
)
DIGEST = Form("digest", FindingsForm)
OUTLINE = Form("outline", OutlineForm)
WRITE_SECTION = Prose("write_section")
