"""Proofs as text: numbers, kill matrix, what to mend; a line for each where there are many, and their sum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judge.verify import Proof


def render(proof: Proof) -> str:
    """Show a proof whole, with its kill matrix; 80 columns where the names allow it."""
    mildest = f"{proof.mildest_mutant:.1e} ({proof.mildest_name})" if proof.mildest_name else "none"
    counts = f"{len(proof.cases)} {proof.unit}, {len(proof.kills)} mutants, {proof.rewrites} rewrites"
    if proof.unit == "cases":
        counts += f", {proof.junk} pieces of junk"
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
    counts = f"{len(proof.cases):3} {proof.unit} {len(proof.kills):4} mutants {proof.rewrites:2} rewrites"
    head = f"{proof.problem:28} {'proven' if proof.ok else 'not proven':10} {counts}  {_seconds(proof)}"
    return "\n".join([head, *_complaints(proof)])


def total(proofs: Sequence[Proof]) -> str:
    """Sum up many proofs, and repeat what is not proven: what stands at the end is read."""
    bad = [proof for proof in proofs if not proof.ok]
    mutants = sum(len(proof.kills) for proof in proofs)
    remembered = sum(proof.remembered for proof in proofs)
    known = f" ({remembered} unchanged since their last proof)" if remembered else ""
    lines = ["", f"{len(proofs) - len(bad)} of {len(proofs)} problems proven{known}, {mutants:,} mutants in all"]
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
