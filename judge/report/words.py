"""What reports say in the same words on a screen, on a page and under a picture."""

from __future__ import annotations

from collections.abc import Iterator

from judge.counted import counted
from judge.models import Growth, Report


def count(report: Report) -> str:
    """How many cases passed, and what else became of them."""
    failed, passed = len(report.failed), len(report.passed)
    missed = len(report.cases) - failed - passed
    parts = [f"{passed} of {counted(len(report.cases), 'case')} passed"]
    parts += [f"{failed} failed"] * bool(failed) + [f"{missed} not reached"] * bool(missed)
    if report.verdict == "closed function used":
        parts.append(f"{'and' if failed or missed else 'but'} a closed function was used")
    return ", ".join(parts)


def growth(found: Growth) -> Iterator[str]:
    """The range of a stream's exponents, yours and the reference's."""
    for who, exponents in (("yours", found.own), ("reference", found.reference)):
        if exponents is not None:
            low, high = (f"depth^{round(value, 2) + 0.0:.2f}" for value in exponents)
            course = f"{low} to {high}" if high != low else low
            yield f"{who}: {f'level ({course})' if course == 'depth^0.00' else course}"
