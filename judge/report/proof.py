"""Proofs as text: numbers, kill matrix, what to mend; a line for each where there are many, and their sum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judge.counted import counted
from judge.verify import Proof


def render(proof: Proof) -> str:
    """Show a proof whole, with its kill matrix; 80 columns where the names allow it."""
    unit = proof.unit.removesuffix("s")
    mildest = f"{proof.mildest_mutant:.1e} ({proof.mildest_name})" if proof.mildest_name else "none"
    nouns = (len(proof.cases), unit), (len(proof.kills), "mutant"), (proof.rewrites, "rewrite")
    counts = ", ".join(counted(number, one) for number, one in nouns)
    if proof.unit == "cases":
        counts += f", {counted(proof.junk, 'piece')} of junk"
    lines = [
        f"{proof.problem}: {'proven' if proof.ok else 'not proven'}",
        f"  {counts}, {_seconds(proof)}",
        f"  worst rewrite {proof.worst_rewrite:.1e}, mildest mutant {mildest}",
    ]
    if proof.kills:
        lines += ["", *_matrix(proof)]
    if proof.complaints:
        lines += ["", *_complaints(proof)]
    return "\n".join(lines)


def line(proof: Proof) -> str:
    """Show a proof in a line, and below it what to mend."""
    unit = proof.unit.removesuffix("s")
    columns = (len(proof.cases), unit, 9), (len(proof.kills), "mutant", 12), (proof.rewrites, "rewrite", 11)
    counts = " ".join(f"{counted(number, f'{one} ', f'{one}s'):>{width}}" for number, one, width in columns)
    head = f"{proof.problem:28} {'proven' if proof.ok else 'not proven':10} {counts}  {_seconds(proof)}"
    return "\n".join([head, *_complaints(proof)])


def total(proofs: Sequence[Proof]) -> str:
    """Sum up many proofs, and repeat what is not proven: what stands at the end is read."""
    bad = [proof for proof in proofs if not proof.ok]
    mutants = sum(len(proof.kills) for proof in proofs)
    remembered = sum(proof.remembered for proof in proofs)
    known = f" ({remembered} unchanged since their last proof)" if remembered else ""
    proven = f"{len(proofs) - len(bad)} of {counted(len(proofs), 'problem')} proven"
    lines = ["", f"{proven}{known}, {counted(mutants, 'mutant')} in all"]
    for proof in bad:
        lines += [f"not proven: {proof.problem}", *_complaints(proof)]
    return "\n".join(lines)


def _seconds(proof: Proof) -> str:
    return "unchanged" if proof.remembered else f"{proof.seconds:.1f} s"


def _complaints(proof: Proof) -> Iterator[str]:
    for number, complaint in enumerate(proof.complaints):
        yield f"  {'then' if number else 'to mend first'}: {complaint}"


def _matrix(proof: Proof) -> list[str]:
    width = max(map(len, proof.kills))
    columns = [str(number % 10) for number in range(1, len(proof.cases) + 1)]
    lines = [f"  {number:2} {case}" for number, case in enumerate(proof.cases, start=1)]
    lines += ["", f"  {'':{width}}  {''.join(columns)}"]
    for mutant, killed in proof.kills.items():
        marks = "".join("#" if case in killed else "." for case in proof.cases)
        lines.append(f"  {mutant:{width}}  {marks}")
    return lines
