"""What a model writes stays inside its section."""

from deepwell.language.section_text import within_a_section


def test_headings_rank_below_the_section() -> None:
    assert within_a_section("# A\n\n## B\n\n### C\n\n#hash") == "### A\n\n### B\n\n### C\n\n#hash"
    assert within_a_section("Fake\n====\n\nText") == "Fake\n\nText"


def test_the_reports_own_headings_are_gone() -> None:
    assert (
        within_a_section("Text [1].\n\n## Sources\n\n[1] Fake\n\n### **Methodology**\nx")
        == "Text [1].\n\n\n[1] Fake\n\nx"
    )


def test_a_fence_is_closed_and_tables_stay() -> None:
    assert within_a_section("```\ncode") == "```\ncode\n```"
    table = "| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert within_a_section(table) == table
