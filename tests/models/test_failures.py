import json
import socket
from typing import Any

import httpx
import httpx2
import pytest
from langchain_core.exceptions import ContextOverflowError, OutputParserException

from deepwell.errors import AnalystFailed
from deepwell.models.failures import Failure, FailureKind, ModelFailed, failure_of


class Answer:
    """What an SDK keeps of an HTTP response."""

    def __init__(self, status: int, headers: dict[str, str]) -> None:
        self.status_code = status
        self.headers = headers


class APIStatusError(Exception):
    """As every SDK made from the same template raises it."""

    def __init__(self, status: int, message: str = "no", headers: dict[str, str] | None = None) -> None:
        super().__init__(f"Error code: {status} - {message}")
        self.status_code = status
        self.response = Answer(status, headers or {})


def named(name: str, *bases: type[Exception], text: str = "") -> Exception:
    """An error of a library that is not installed."""
    made = type(name, bases or (Exception,), {})(text)
    assert isinstance(made, Exception)
    return made


def raised(error: BaseException, *, cause: BaseException | None = None, context: BaseException | None = None) -> Any:
    """The error, raised from the cause or, `from None`, while the other was handled."""
    error.__cause__, error.__context__ = cause, context
    error.__suppress_context__ = True
    return error


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, FailureKind.BAD_REQUEST),
        (401, FailureKind.AUTH),
        (402, FailureKind.QUOTA),
        (403, FailureKind.AUTH),
        (404, FailureKind.BAD_REQUEST),
        (408, FailureKind.TIMEOUT),
        (413, FailureKind.CONTEXT_OVERFLOW),
        (422, FailureKind.BAD_REQUEST),
        (429, FailureKind.RATE_LIMIT),
        (500, FailureKind.OVERLOAD),
        (502, FailureKind.OVERLOAD),
        (503, FailureKind.OVERLOAD),
        (504, FailureKind.TIMEOUT),
        (529, FailureKind.OVERLOAD),
    ],
)
def test_a_status_has_a_kind(status: int, kind: FailureKind) -> None:
    assert failure_of(APIStatusError(status)).kind is kind


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "{'error': {'code': 'context_length_exceeded'}}"),
        (400, "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens"),
        (400, "the request exceeds the available context size, try increasing it"),
        (
            400,
            "{'type': 'exceed_context_size_error', 'message': 'request (5000 tokens) exceeds the available context'}",
        ),
        (500, "the request exceeds the available context size"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
        (400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"),
        (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
        (400, "The decoder prompt (length 9000) is longer than the maximum model length of 8192."),
        (400, "Please reduce the length of the messages or completion."),
        (400, "Requested tokens (5000) exceed context window of 4096"),
        (400, "Your input exceeds the context window of this model."),
        (400, "Trying to keep the first 6000 tokens when context the overflows."),
        (400, "the input length exceeds the context length"),
        (413, "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000"),
        (429, "Request too large for gpt-4. The input or output tokens must be reduced in order to run successfully."),
        (422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"),
    ],
)
def test_a_prompt_that_is_too_long_is_known_in_all_wordings(status: int, words: str) -> None:
    failure = failure_of(APIStatusError(status, words))
    assert failure == Failure(FailureKind.CONTEXT_OVERFLOW, "The prompt is longer than the model can take.")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (429, "You exceeded your current quota, please check your plan and billing details. code: insufficient_quota"),
        (400, "Your credit balance is too low to access the Anthropic API."),
        (402, "Insufficient Balance"),
        (403, "billing_not_active"),
        (429, "quotaId: GenerateRequestsPerDayPerProjectPerModel-FreeTier"),
    ],
)
def test_an_empty_account_is_not_a_rate_limit(status: int, words: str) -> None:
    assert failure_of(APIStatusError(status, words)).kind is FailureKind.QUOTA


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (400, "API key not valid. Please pass a valid API key.", FailureKind.AUTH),
        (
            429,
            "please check your plan and billing. quotaId: GenerateRequestsPerMinutePerProject",
            FailureKind.RATE_LIMIT,
        ),
        (429, "Rate limit reached. Upgrade today at https://example.org/settings/billing", FailureKind.RATE_LIMIT),
        (400, "The response was filtered due to the prompt triggering content management policy", FailureKind.REFUSAL),
        (400, "Content Exists Risk", FailureKind.REFUSAL),
        (400, "{'code': 'tool_use_failed', 'failed_generation': '<function'}", FailureKind.MALFORMED),
        (400, "{'code': 'json_validate_failed'}", FailureKind.MALFORMED),
        (500, "Failed to parse input at pos 12", FailureKind.MALFORMED),
        (503, "Loading model", FailureKind.OVERLOAD),
        (400, "tool_choice is not supported by this model", FailureKind.BAD_REQUEST),
        (503, "insufficient_quota of machines", FailureKind.OVERLOAD),
    ],
)
def test_what_is_said_with_a_status_counts(status: int, words: str, kind: FailureKind) -> None:
    assert failure_of(APIStatusError(status, words)).kind is kind


REQUEST = httpx.Request("POST", "https://secret-host.example/v1?key=sk-123")
REQUEST2 = httpx2.Request("POST", "https://secret-host.example/v1?key=sk-123")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), FailureKind.TIMEOUT),
        (httpx.ReadTimeout("x", request=REQUEST), FailureKind.TIMEOUT),
        (httpx2.ConnectTimeout("x", request=REQUEST2), FailureKind.TIMEOUT),
        (named("APITimeoutError", type("APIConnectionError", (Exception,), {})), FailureKind.TIMEOUT),
        (httpx.ConnectError("x", request=REQUEST), FailureKind.UNREACHABLE),
        (httpx.ReadError("x", request=REQUEST), FailureKind.UNREACHABLE),
        (httpx2.ConnectError("x", request=REQUEST2), FailureKind.UNREACHABLE),
        (httpx2.RemoteProtocolError("x", request=REQUEST2), FailureKind.UNREACHABLE),
        (named("APIConnectionError", text="Connection error."), FailureKind.UNREACHABLE),
        (ConnectionRefusedError(), FailureKind.UNREACHABLE),
        (ConnectionResetError(), FailureKind.UNREACHABLE),
        (socket.gaierror(-2, "Name or service not known"), FailureKind.UNREACHABLE),
        (json.JSONDecodeError("x", "<html>", 0), FailureKind.MALFORMED),
        (httpx.DecodingError("x"), FailureKind.MALFORMED),
        (KeyError("Response missing 'choices' key"), FailureKind.MALFORMED),
        (TypeError("Received response with null value for 'choices'."), FailureKind.MALFORMED),
        (ValueError("No data received"), FailureKind.MALFORMED),
        (OutputParserException("x"), FailureKind.MALFORMED),
        (named("LengthFinishReasonError"), FailureKind.MALFORMED),
        (named("ContentFilterFinishReasonError"), FailureKind.REFUSAL),
        (named("OpenAIRefusalError"), FailureKind.REFUSAL),
        (ContextOverflowError("x"), FailureKind.CONTEXT_OVERFLOW),
        (named("ModelAuthenticationError"), FailureKind.AUTH),
        (named("ModelRateLimitError"), FailureKind.RATE_LIMIT),
        (named("GoogleInvalidRequestError", text="400: API key not valid"), FailureKind.AUTH),
        (named("ResponseError", text="an error was encountered while running the model"), FailureKind.OVERLOAD),
        (ValueError("`temperature` is not supported for this model"), FailureKind.BAD_REQUEST),
        (ValueError({"message": "slow down", "code": 429}), FailureKind.RATE_LIMIT),
        (ValueError({"message": "Provider overloaded", "code": 502}), FailureKind.OVERLOAD),
        (ExceptionGroup("x", [httpx.ConnectError("x")]), FailureKind.UNREACHABLE),
    ],
    ids=repr,
)
def test_an_error_without_a_status_is_known_by_its_name(error: BaseException, kind: FailureKind) -> None:
    assert failure_of(error).kind is kind


def test_the_nearest_error_decides() -> None:
    """The retry failed in another way than the first try, which is still its context."""
    error = raised(httpx.ConnectError("x"), context=APIStatusError(429))
    assert failure_of(error).kind is FailureKind.UNREACHABLE


def test_an_error_that_says_nothing_is_looked_behind() -> None:
    error = raised(named("WrappedError"), cause=raised(named("Inner"), cause=APIStatusError(401)))
    assert failure_of(error) == Failure(FailureKind.AUTH, "The model provider did not accept the key (status 401).")


def test_errors_that_lead_to_each_other_are_no_endless_story() -> None:
    one, two = named("One"), named("Two")
    raised(one, cause=two)
    raised(two, cause=one)
    assert failure_of(one).kind is FailureKind.MALFORMED


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "17"}, 17.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "9", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Sun, 15 Nov 2026 12:01:00 GMT", "date": "Sun, 15 Nov 2026 12:00:00 GMT"}, 60.0),
        ({"retry-after": "Sun, 15 Nov 2026 12:00:00 GMT", "date": "Sun, 15 Nov 2026 12:01:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 01 Jan 2001 00:00:00 GMT"}, 0.0),
    ],
    ids=str,
)
def test_the_wait_a_provider_asks_for_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert failure_of(APIStatusError(429, headers=headers)).retry_after_s == seconds


def test_the_wait_is_found_behind_an_error_raised_from_none() -> None:
    error = named("ResponseError")
    hidden = APIStatusError(429, headers={"retry-after": "8"})
    assert failure_of(raised(error, context=hidden)).retry_after_s == 8.0


def test_the_wait_google_writes_into_its_text_is_read() -> None:
    text = "429 RESOURCE_EXHAUSTED. {'details': [{'@type': 'RetryInfo', 'retryDelay': '36.5s'}]}"
    failure = failure_of(named("GoogleRateLimitError", text=text))
    assert (failure.kind, failure.retry_after_s) == (FailureKind.RATE_LIMIT, 36.5)


@pytest.mark.parametrize("status", [400, 401, 402, 404, 413, 429, 500, 504])
def test_a_sentence_repeats_nothing_of_what_was_said(status: int) -> None:
    error = raised(
        APIStatusError(status, "Incorrect key sk-abc123 at https://secret-host.example/v1 for org-9"),
        cause=httpx.HTTPStatusError("https://secret-host.example", request=REQUEST, response=httpx.Response(status)),
    )
    sentence = failure_of(error).sentence
    assert not any(word in sentence for word in ("sk-", "http", "secret-host", "org-9", "Incorrect"))
    assert sentence.endswith(".")
    assert sentence.count(".") == 1


def test_a_model_that_failed_is_an_analyst_that_failed() -> None:
    failure = failure_of(TimeoutError())
    error = ModelFailed(failure)
    assert isinstance(error, AnalystFailed)
    assert str(error) == failure.sentence == "The model did not answer in time."
    assert failure_of(error) is failure
