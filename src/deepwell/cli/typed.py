"""How the command line takes what is typed: a question without a command, a run by its id, a model by its name."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup


class QuestionFirst(TyperGroup):
    """A group whose default command is `ask`: what is no command is a question."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `ask` in front of anything that names no command and no option of the group itself."""
        own = {option for parameter in self.get_params(ctx) for option in parameter.opts}
        if args and args[0] not in self.commands and args[0] not in own:
            args = ["ask", *args]
        return super().parse_args(ctx, args)


def run_ids(incomplete: str) -> list[str]:
    """Those of the store that begin so, for the shell's completion."""
    from deepwell.cli import commands

    return commands.run_ids(incomplete)


def model_names(incomplete: str) -> list[str]:
    """A name for every provider, for the shell's completion."""
    from deepwell.models.names import PROVIDERS

    known = (f"{provider.name}:{provider.example}" for provider in PROVIDERS.values())
    return [name for name in ("none", *known) if name.startswith(incomplete)]


RunId = Annotated[
    str, typer.Argument(help="A run's id or its beginning; `last` is the newest.", autocompletion=run_ids)
]
