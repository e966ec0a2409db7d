"""What can go wrong, as types. Every message is a safe sentence that says what to do; no paths of ours, no traces.

DeepwellError
├── BadRequest              the question or an option cannot be used as it is
│   ├── BadConfiguration    a setting has a value outside its range
│   └── UnknownRun          no run, or more than one, goes by that id
├── Unreadable              a document, folder or address cannot be read
│   └── NothingReadable     a library with no readable document at all
├── SearchFailed            an engine did not answer
│   └── NoAnswer            and why (in `search.failures`, with its kind)
├── AnalystFailed           a judgement could not be had
│   ├── ModelFailed         the model did not give it (in `models.failures`, with its kind)
│   └── BudgetSpent         no tokens or no money left to ask for it
├── Interrupted             the user stopped before there was anything to report
└── StoreFailed             the run store or a library index cannot be used
    ├── StoreNewer          written by a newer Deepwell
    ├── StoreFull           no space left
    ├── StoreBusy           another process holds it
    │   └── RunHeld         another process works on that run
    └── StoreDamaged        the file is not a database, or is broken
"""


class DeepwellError(Exception):
    """Base of all errors that Deepwell raises on purpose; `str(error)` can be shown to anyone."""


class BadRequest(DeepwellError):
    """The question or an option cannot be used as it is."""


class BadConfiguration(BadRequest):
    """A setting is unknown or outside its range."""


class UnknownRun(BadRequest):
    """No run, or more than one, goes by that id."""


class Unreadable(DeepwellError):
    """A document, folder or address cannot be read."""

    final: bool = False
    """True when it would be the same at the next try."""


class NothingReadable(Unreadable):
    """A library in which not one document could be read."""


class SearchFailed(DeepwellError):
    """An engine did not answer."""


class Interrupted(DeepwellError):
    """The user stopped before there was anything to report."""


class AnalystFailed(DeepwellError):
    """A judgement could not be had."""


class BudgetSpent(AnalystFailed):
    """There are no tokens or no money left to ask for it."""


class StoreFailed(DeepwellError):
    """The run store or a library index cannot be used."""


class StoreNewer(StoreFailed):
    """The file was written by a newer Deepwell."""


class StoreFull(StoreFailed):
    """There is no space left for it."""


class StoreBusy(StoreFailed):
    """Another process holds it for too long."""


class RunHeld(StoreBusy):
    """Another process works on that run."""


class StoreDamaged(StoreFailed):
    """The file is not a database, or it is broken."""
