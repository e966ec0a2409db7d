"""The commands about models: what is set up, what is missing, and what a run would cost."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from deepwell.budget.estimate import Estimate, estimate
from deepwell.cli.exit_codes import Exit
from deepwell.cli.printed import json_text
from deepwell.configuration import Configuration, environment, home, secret
from deepwell.errors import AnalystFailed, BadConfiguration
from deepwell.models.capabilities import Capabilities, CapabilityCache, cache_key
from deepwell.models.choosing import Chosen, check_price, chosen
from deepwell.models.factory import ModelSettings, missing
from deepwell.models.names import PROVIDERS, ModelName
from deepwell.vocabulary.budget import Price

NO_MODEL_SAID = (
    "No model is configured: Deepwell works without one, by quoting. "
    "Name one with --model provider:model, or set ORCHESTRATOR_MODEL."
)


@dataclass(frozen=True, slots=True)
class Role:
    """A model and what it is for."""

    role: str
    model: str
    address: str | None
    missing: str | None
    """A sentence; None: nothing is missing."""
    price: str
    probed: str


@dataclass(frozen=True, slots=True)
class Offer:
    """A provider, and what is missing to use it."""

    provider: str
    example: str
    missing: str | None


async def models(console: Console, *, check: bool, as_json: bool) -> Exit:
    """List the models that are configured and the providers that could be."""
    configuration = Configuration.build()
    picked = chosen(configuration)
    failures = await _tried_out(picked, configuration) if check and picked else {}
    roles = _roles(picked, failures)
    offers = _offers(environment())
    if as_json:
        json_text({"configured": [asdict(role) for role in roles], "providers": [asdict(offer) for offer in offers]})
    else:
        _print_models(console, roles, offers)
    if any(failures.values()):
        return Exit.MODEL
    return Exit.USAGE if any(role.missing for role in roles) else Exit.REPORT


def dry_run(console: Console, question: str, configuration: Configuration, *, as_json: bool) -> Exit:
    """Say what a run would use, without a run. Raises BadRequest for what the run itself would refuse."""
    from deepwell.stages.intake import accepted_question

    accepted_question(question)
    picked = chosen(configuration)
    if picked is None:
        expected = Estimate((), (0, 0), (0, 0), (0.0, 0.0), configuration.total_minutes)
        words = f"{NO_MODEL_SAID} Such a run costs nothing."
    else:
        check_price(picked, configuration)
        expected = estimate(configuration, str(picked.lead.name), str(picked.researcher.name), picked.prices)
        words = estimate_words(expected, configuration)
    if as_json:
        json_text(asdict(expected))
        return Exit.REPORT
    _print_calls(console, expected)
    for sentence in dict.fromkeys(missing(one) for one in (picked.each if picked else ())):
        words += f"\nBefore it can run: {sentence}" if sentence else ""
    console.print(words, soft_wrap=not console.is_terminal, highlight=False, markup=False)
    return Exit.REPORT


async def _tried_out(picked: Chosen, configuration: Configuration) -> dict[ModelSettings, str | None]:
    """Try each configured model out anew, and say of each why it cannot be used, if so."""
    usable = [one for one in picked.each if not missing(one)]
    sentences = await asyncio.gather(*(_failure(one, configuration) for one in usable))
    return dict(zip(usable, sentences, strict=True))


async def _failure(settings: ModelSettings, configuration: Configuration) -> str | None:
    from deepwell.assemble import probed_again

    try:
        await probed_again(settings, configuration, home())
    except (AnalystFailed, BadConfiguration) as error:
        return str(error)
    return None


def _roles(picked: Chosen | None, failures: Mapping[ModelSettings, str | None]) -> list[Role]:
    if picked is None:
        return []
    cache = CapabilityCache(home() / "models.json")
    if picked.lead == picked.researcher:
        named = [("plans, researches and writes", picked.lead)]
    else:
        named = [("plans, leads and writes", picked.lead), ("researches", picked.researcher)]
    return [_role(role, one, picked.prices[str(one.name)], cache, failures.get(one)) for role, one in named]


def _role(role: str, settings: ModelSettings, price: Price | None, cache: CapabilityCache, failure: str | None) -> Role:
    return Role(
        role,
        str(settings.name),
        _shown_address(settings.base_url),
        missing(settings) or failure,
        _price_words(price),
        _capability_words(cache.known(cache_key(settings))),
    )


def _shown_address(address: str | None) -> str | None:
    """Without a name, a password or anything else that is no address."""
    return re.sub(r"(?<=//)[^/]*@|[?#].*", "", address) if address else None


def _offers(env: Mapping[str, str]) -> list[Offer]:
    found = []
    for provider in PROVIDERS.values():
        name = ModelName(provider.name, provider.example)
        address = provider.address or env.get("MODEL_BASE_URL")
        try:
            sentence = missing(ModelSettings(name, address, key=secret(provider.key_names, env)))
        except BadConfiguration as error:
            sentence = str(error)
        found.append(Offer(provider.name, str(name), sentence))
    return found


def _print_models(console: Console, roles: list[Role], offers: list[Offer]) -> None:
    if not roles:
        console.print(NO_MODEL_SAID, soft_wrap=not console.is_terminal, highlight=False)
    for role in roles:
        where = f" at {role.address}" if role.address else ""
        console.print(
            Text(f"{role.model}{where}", style="bold"), Text(f"{role.role}"), soft_wrap=not console.is_terminal
        )
        console.print(
            Text(f"    {role.missing or f'ready; {role.price}; {role.probed}'}"), soft_wrap=not console.is_terminal
        )
    console.print()
    table = Table(box=None, pad_edge=False)
    for column in ("provider", "for example", "what is missing"):
        table.add_column(column, overflow="fold")
    for offer in offers:
        words = Text("nothing", style="green") if offer.missing is None else Text(offer.missing)
        table.add_row(offer.provider, offer.example, words)
    console.print(table)


def _print_calls(console: Console, expected: Estimate) -> None:
    if not expected.calls:
        return
    table = Table(box=None, pad_edge=False)
    for column in ("phase", "model", "requests", "tokens each"):
        numeric = column in ("requests", "tokens each")
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for calls in expected.calls:
        tokens = f"about {calls.prompt_tokens + calls.reply_tokens:,}"
        table.add_row(calls.phase, calls.model, f"about {max(1, round(calls.usual))}, at most {calls.most}", tokens)
    console.print(table)
    console.print()


def estimate_words(expected: Estimate, configuration: Configuration) -> str:
    """The estimate in a few sentences; a limit that was set is firm, any other is a worst case."""
    usual, most = expected.tokens
    if expected.too_little:
        return "The limit is too low for a model to be asked anything: the run would be done without it, for nothing."
    firm = "never more than" if configuration.token_budget else "if every round and search is used, at most about"
    lines = [f"Usually about {expected.requests[0]} requests and {usual:,} tokens; {firm} {most:,} tokens."]
    if expected.cost_usd is None:
        lines.append("No price is known for the model: only tokens can be counted and limited (--max-tokens).")
    else:
        firm = "never more than" if configuration.cost_budget_usd is not None else "at most about"
        lines.append(f"Usually {_dollars(expected.cost_usd[0])}; {firm} {_dollars(expected.cost_usd[1])}.")
    minutes = "no limit in time" if expected.minutes is None else f"at most {expected.minutes:g} minutes"
    lines.append(f"Time: {minutes}. Nothing was asked or spent.")
    return "\n".join(lines)


def _dollars(amount: float) -> str:
    return "nothing" if not amount else f"${amount:.3f}" if amount < 1 else f"${amount:.2f}"


def _price_words(price: Price | None) -> str:
    if price is None:
        return "price not known, so that only tokens are counted"
    if not price.input_usd_per_million and not price.output_usd_per_million:
        return "free of charge"
    return f"${price.input_usd_per_million:g} in and ${price.output_usd_per_million:g} out per million tokens"


def _capability_words(known: Capabilities | None) -> str:
    if known is None:
        return "not tried out yet (--check does)"
    can: list[Any] = [
        "calls tools" if known.tools else "calls no tools",
        "keeps to a schema" if known.schema else "keeps to no schema",
        f"{known.context_tokens:,} tokens of context" if known.context_tokens else "context not told",
    ]
    return f"{', '.join(can)} (tried {known.probed_at})"
