"""Prompts are files: standing instructions above a line of `===`, the case below it, rendered strictly."""

from functools import cache
from importlib.resources import files
from string import Template

_DIVIDER = "\n===\n"


def standing(name: str) -> str:
    """The instructions of that prompt, the same every time."""
    return _parts(name)[0]


def rendered(name: str, **values: object) -> str:
    """The case of that prompt. A variable without a value, and a value without a variable, is a defect of ours."""
    case = _parts(name)[1]
    unused = set(values) - set(case.get_identifiers())
    if unused:
        raise KeyError(f"the prompt {name} has no variable {min(unused)}")
    # Blocks that are empty in this case leave blank lines behind: at most one of them is kept.
    lines = case.substitute(values).splitlines()
    kept = [line for i, line in enumerate(lines) if line.strip() or (i and lines[i - 1].strip())]
    return "\n".join(kept).strip()


@cache
def _parts(name: str) -> tuple[str, Template]:
    standing, _, case = files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8").partition(_DIVIDER)
    return standing.strip(), Template(case)
