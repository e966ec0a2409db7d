import pytest

from deepwell.models.prose import prose_in

BODY = "## Trade\n\nTrade grew by 4 % [1].\n\n- Ships [2]\n- Ports [3]"

SAID = [
    (BODY, BODY),
    (f"```markdown\n{BODY}\n```", BODY),
    (f"```md\n{BODY}", BODY),
    (f"```\n{BODY}\n```", BODY),
    (f"Here is the section:\n\n{BODY}", BODY),
    (f"Sure! Here's the requested section on trade:\n\n---\n\n{BODY}", BODY),
    (f"Certainly, here is the text you asked for.\n{BODY}", BODY),
    (f"Okay!\n\nBelow is the revised draft:\n```markdown\n{BODY}\n```\n\nLet me know!", BODY),
    (f"{BODY}\n\n---\nI hope this helps!", BODY),
    (f"{BODY}\n\n## Sources\n1. A study, https://a.example\n2. Another", BODY),
    (f"{BODY}\n\n---\n\n**References:**\n\n[1] A study\n[2] Another\n", BODY),
    (f"{BODY}\n\nSources: [1], [2], [3]", BODY),
    (f"{BODY}\n\nSources:\nSmith (2020), https://a.example/b\n", BODY),
    (f"{BODY}\n\n### Quellen\n* Studie", BODY),
    (f"{BODY}\n\n参考文献：\n[1] 研究", BODY),
    (f"{BODY}\n\n[1]: https://a.example\n[^2]: Another", BODY),
    (f"{BODY}\n\nReferences", BODY),
    (f"ConductResearch(research_topic='ports')\n{BODY}\ntool_call_id: call_abc123def456ghi", BODY),
    ("Trade grew [1]. The report_findings call said so. Ports grew [2].", "Trade grew [1]. Ports grew [2]."),
    (f"{BODY}\n\n\n\n\nMore.", f"{BODY}\n\nMore."),
    ('{"text": "Trade grew [1].\\n\\nPorts too."}', "Trade grew [1].\n\nPorts too."),
    ('```json\n{"section": "Trade grew [1]."}\n```', "Trade grew [1]."),
]


@pytest.mark.parametrize(("said", "meant"), SAID)
def test_the_passage_alone_is_left(said: str, meant: str) -> None:
    assert prose_in(said) == meant


@pytest.mark.parametrize(
    "text",
    [
        "Here is where trade began: in the harbour [1].",
        "Here are three ports:\n\n- A [1]\n- B [2]",
        "Below is what the section on ports says [1]:\n\nmore",
        "Sure, trade grew [1].",
        "```python\nprint('a')\n```\n\nThe code prints [1].",
        "```python\nprint('a')\n```",
        "Trade grew [1].\n\n```text\na\n```\n\nand\n\n```text\nb\n```",
        "## Sources\n\nThe river has two sources [1].",
        "The sources disagree:\n\n- A [1]\n- B [2]",
        "## Sources of income\n\n- Trade [1]",
        "Let me know your views, he wrote [1].",
        "LangChain searches the web with search_web and thinks with think_tool [1].",
        '{"a": "x", "b": "y"} is an object [1].',
        "* * *",
    ],
)
def test_what_may_belong_to_it_stays(text: str) -> None:
    assert prose_in(text) == text


@pytest.mark.parametrize("text", ["", " \n ", "Sure!", "Here is the section:", "Sources:\n- a", "tool_call_id: x"])
def test_there_may_be_nothing(text: str) -> None:
    assert prose_in(text) == ""
