from dataclasses import dataclass
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from deepwell.budget.run_clock import RunClock
from deepwell.testing import START, ManualClock

STEPS = st.lists(st.floats(-1e6, 1e6, allow_nan=False), max_size=20)


@dataclass
class WildClock:
    """A machine whose clocks are set forward and back."""

    elapsed: float = 0.0

    def monotonic(self) -> float:
        return self.elapsed

    def now(self) -> datetime:
        return START + timedelta(seconds=self.elapsed)


@given(STEPS, st.floats(0, 1e5))
def test_time_never_runs_backwards(steps: list[float], used_s: float) -> None:
    machine = WildClock()
    clock = RunClock(machine, used_s)
    seconds, times = [clock.monotonic()], [clock.now()]
    for step in steps:
        machine.elapsed += step
        seconds.append(clock.monotonic())
        times.append(clock.now())
    assert seconds == sorted(seconds)
    assert times == sorted(times)


@given(st.floats(0, 1e5), st.floats(0, 1e5))
def test_a_run_goes_on_with_the_time_it_had_used(used_s: float, more: float) -> None:
    machine = ManualClock(elapsed=123.0)
    clock = RunClock(machine, used_s)
    machine.move(more)
    assert abs(clock.monotonic() - (used_s + more)) < 1e-6


def test_the_record_goes_on_after_its_last_reading() -> None:
    later = START + timedelta(days=1)
    assert RunClock(ManualClock(), last=later).now() == later
