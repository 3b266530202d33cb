"""What a stream report says in words, on a screen and under a picture."""

from __future__ import annotations

from collections.abc import Iterator

from judge.models import Growth


def growth(found: Growth) -> Iterator[str]:
    """The range of a stream's exponents, yours and the reference's."""
    for who, exponents in (("yours", found.own), ("reference", found.reference)):
        if exponents is not None:
            low, high = (f"{round(value, 2) + 0.0:.2f}" for value in exponents)
            yield f"{who}: norm ~ depth^{low}" + (f" to {high}" if high != low else "")
