"""The proof of a problem as text: its numbers, its kill matrix, and what to mend."""

from __future__ import annotations

from judge.verify import Proof


def render(proof: Proof, *, matrix: bool = True) -> str:
    """Plain text, 80 columns where the names allow it."""
    mildest = f"{proof.mildest_mutant:.1e} ({proof.mildest_name})" if proof.mildest_name else "none"
    counts = f"{len(proof.cases)} {proof.unit}, {len(proof.kills)} mutants, {proof.rewrites} rewrites"
    if proof.unit == "cases":
        counts += f", {proof.junk} pieces of junk"
    lines = [
        f"{proof.problem}: {'proven' if proof.ok else 'not proven'}",
        f"  {counts}, {proof.seconds:.1f} s",
        f"  worst rewrite {proof.worst_rewrite:.1e}, mildest mutant {mildest}",
    ]
    if matrix and proof.kills:
        lines += ["", *_matrix(proof)]
    if proof.complaints:
        lines += ["", f"  to mend first: {proof.complaints[0]}"]
        lines += [f"  then: {complaint}" for complaint in proof.complaints[1:]]
    return "\n".join(lines)


def _matrix(proof: Proof) -> list[str]:
    width = max(map(len, proof.kills))
    columns = [str(number % 10) for number in range(1, len(proof.cases) + 1)]
    lines = [f"  {number:2} {case}" for number, case in enumerate(proof.cases, start=1)]
    lines += ["", f"  {'':{width}}  {''.join(columns)}"]
    for mutant, killed in proof.kills.items():
        marks = "".join("#" if case in killed else "." for case in proof.cases)
        lines.append(f"  {mutant:{width}}  {marks}")
    return lines
