"""A scripted model behind the OpenAI interface, over loopback HTTP, that can also fail in every way a provider does.

with ModelServer(faults=[Fault("rate_limit", first=2)]) as server:
    ...                                   # point any OpenAI client at server.base_url
    assert server.purposes() == ("take_in", "take_in", "take_in")
"""

from deepwell.testing.model_server.colleague import Colleague
from deepwell.testing.model_server.exchanges import Exchange, longest_chain, prompt_tokens
from deepwell.testing.model_server.faults import FAULTS, Fault
from deepwell.testing.model_server.replies import Call, Reply, Styled
from deepwell.testing.model_server.requests import (
    PURPOSES,
    ChatRequest,
    ShownClaim,
    ShownGap,
    ShownPassage,
    ShownSection,
    ShownSubQuestion,
)
from deepwell.testing.model_server.server import ModelServer
from deepwell.testing.model_server.service import Script

__all__ = [
    "FAULTS",
    "PURPOSES",
    "Call",
    "ChatRequest",
    "Colleague",
    "Exchange",
    "Fault",
    "ModelServer",
    "Reply",
    "Script",
    "ShownClaim",
    "ShownGap",
    "ShownPassage",
    "ShownSection",
    "ShownSubQuestion",
    "Styled",
    "longest_chain",
    "prompt_tokens",
]
