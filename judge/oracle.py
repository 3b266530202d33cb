"""The oracle worker's answers about one drawn problem: outcomes of a submission, proofs for `judge verify`, scripts."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

import torch

from judge.compare import Comparison, Difference, pairs
from judge.drawn import DrawnCall, DrawnCase, DrawnProblem, Outcome
from judge.errors import ProblemError
from judge.observation import Observation, from_worker
from judge.precision import forgive_rounding
from judge.processes import without_data
from judge.processes.wire import WireError
from judge.stream import curve

if TYPE_CHECKING:
    from judge.mutants import Mutant

_MOST_FINDINGS = 10  # of one case: all cases together have to fit into the header of one frame
_MOST_FRAMES = 6


class Oracle:
    """Holds the observations of the submission at hand and, for `judge verify`, those of earlier ones."""

    def __init__(self, problem: DrawnProblem):
        self.problem = problem
        self.observed: dict[int, Observation] = {}
        self.compared: dict[int, Comparison] = {}
        self.kept: dict[str, dict[int, Observation]] = {}
        self.failed: dict[str, list[str]] = {}
        self.sources: dict[str, str] = {}  # of the mutants that were tried here, and how they fared
        self.fared: dict[str, Any] = {}
        self._mutants: tuple[Mutant, ...] | None = None

    def answers(self, header: dict[str, Any], body: bytes) -> Iterable[dict[str, Any]]:
        """The answers to one frame from the CLI process: none, one or, about mutants, one for each."""
        if header["type"] == "mutants":
            return self._trials(header)
        answer = self._answer(header, body)
        return [answer] if answer else []

    def _answer(self, header: dict[str, Any], body: bytes) -> dict[str, Any] | None:
        kind = header["type"]
        if kind == "begin":
            self.observed, self.compared = {}, {}
        elif kind == "observation":
            return self._take(header["call"], body)
        elif kind == "end":
            return self._result(header)
        elif kind == "equal pairs":
            return {"type": kind, "pairs": self._equal_pairs(header["seconds"])}
        elif kind == "traced":
            return self._traced(header["case"])
        elif kind == "parts":
            return {"type": kind, "said": self._first_part(header["call"], body)}
        elif kind == "kinds":
            return {"type": kind, "kinds": self._kinds()}
        elif kind == "oracle":
            return {"type": kind, **self._second_opinion(header["module"])}
        elif kind == "script":
            from judge.script import script

            return {"type": kind, "text": script(self.problem, header["case"], header["seed"])}
        return None

    def _take(self, number: int, body: bytes) -> dict[str, Any] | None:
        """Compare an observation as it comes: the submission computes the next one meanwhile."""
        try:
            observed = from_worker(body)
        except WireError as exc:
            return {"type": "unreadable", "call": number, "message": str(exc)}
        self.observed[number] = observed
        self.compared[number] = self.problem.compare(self.problem.calls[number], observed)
        return None

    def _result(self, header: dict[str, Any]) -> dict[str, Any]:
        if self.problem.whole and len(self._outcomes()) == len(self.problem.cases):  # a few alone would tell less
            forgive_rounding(self.compared[call.number] for call in self.problem.calls if self._has_numbers(call))
        outcomes = self._outcomes()
        failed = [name for name, outcome in outcomes.items() if not outcome.passed]
        if header["keep"]:
            self.kept[header["keep"]] = self.observed
            self.failed[header["keep"]] = failed
        cases = {name: _as_json(outcome) for name, outcome in outcomes.items()}
        if failed:
            self._add_heat(cases, outcomes)
        return {
            "type": "result",
            "cases": cases,
            "diagnosis": self._diagnosis(outcomes) if failed and header["diagnose"] else None,
            "streams": self._streams(),
        }

    def _has_numbers(self, call: DrawnCall) -> bool:
        program = call.program
        return program.dtype == "float64" and not (call.form_only or program.raises) and "stream" not in program.extras

    def _outcomes(self) -> dict[str, Outcome]:
        """Of the cases all of whose calls were observed."""
        return {
            case.name: self.problem.judge_case(case, [self.observed[call.number] for call in case.calls], self.compared)
            for case in self.problem.cases
            if all(call.number in self.observed for call in case.calls)
        }

    def _add_heat(self, cases: dict[str, Any], outcomes: dict[str, Outcome]) -> None:
        """Give the first finding about a value, of all cases, its map."""
        for case in self.problem.cases:
            differences = outcomes[case.name].differences if case.name in outcomes else []
            for finding, difference in zip(cases.get(case.name, {}).get("findings", ()), differences, strict=False):
                if difference.facet == "value":
                    finding["heat"] = self._heat(case, difference)
                    return

    def _heat(self, case: DrawnCase, difference: Difference) -> dict[str, Any] | None:
        from judge.heat import heat_map  # an accepted submission has no use for it

        for call in case.calls:
            if difference not in self.compared[call.number].differences:
                continue
            observed = self.observed[call.number].values
            for name, expected in self.problem.expected[call.number].values.items():
                for kind, subject, one, other in pairs(observed.get(name), expected, name):
                    if kind == "tensor" and subject == difference.subject:
                        return heat_map(one, other, call.program.dtype)
        return None

    def _diagnosis(self, outcomes: dict[str, Outcome]) -> dict[str, Any] | None:
        from judge.diagnose import diagnose  # an accepted submission has no use for them
        from judge.mutants import load_mutants

        if self._mutants is None:
            self._mutants = load_mutants(self.problem.folder, made=False)
        found = diagnose(self.problem, self._mutants, self.observed, outcomes)
        if found is None:
            return None
        mutants = [
            {"mutant": like.mutant.name, "what": like.mutant.what, "idea": like.mutant.idea, "part": like.part}
            for like in found.likenesses
        ]
        return {"strength": found.strength, "mutants": mutants, "together": found.together, "share": found.share}

    def _traced(self, name: str) -> dict[str, Any]:
        from judge.sublayers import traced

        case = next(case for case in self.problem.cases if case.name == name)
        found = traced([call for call in case.calls if self._differs(call.number)])
        return (
            {"type": "traced", "call": found[0].number, "body": found[1]} if found else {"type": "traced", "call": None}
        )

    def _differs(self, number: int) -> bool:
        return number in self.compared and any(d.facet == "value" for d in self.compared[number].differences)

    def _first_part(self, number: int, body: bytes) -> str | None:
        from judge.sublayers import first_difference

        try:
            return first_difference(self.problem, self.problem.calls[number], from_worker(body))
        except WireError:  # then nothing is known of its parts
            return None

    def _streams(self) -> list[dict[str, Any]]:
        return [
            curve(label, self.observed.get(call.number), self.problem.expected[call.number])
            for label, call in self.problem.streams.items()
        ]

    def _trials(self, header: dict[str, Any]) -> Iterator[dict[str, Any]]:
        from judge.mutant_trials import trials

        for mutant, fared in trials(self.problem, header["mutants"], header["seconds"], header["at_once"]):
            if fared is not None and header["keep"]:
                self.sources[mutant["name"]], self.fared[mutant["name"]] = mutant["source"], fared
            yield {"type": "mutants", "name": mutant["name"], "fared": fared}

    def _equal_pairs(self, seconds: float) -> list[list[str]] | None:
        """Pairs of mutants, or of kept submissions, that no call tells apart: a diagnosis could not, either."""
        if self.sources:
            from judge.mutant_trials import equal_pairs

            return equal_pairs(self.problem, self.sources, self.fared, seconds)
        return [
            [one, other]
            for one, other in combinations(self.kept, 2)
            if self.failed[one] == self.failed[other]
            and all(self._agree(one, other, call.number) for call in self.problem.calls)
        ]

    def _agree(self, one: str, other: str, number: int) -> bool:
        a, b = self.kept[one].get(number), self.kept[other].get(number)
        if a is None or b is None:
            return a is b
        from judge.agreement import agree

        call = self.problem.calls[number]
        if not call.program.random:
            return agree(a, b, call.program, self.problem.expected[number].scales)
        case = next(case for case in self.problem.cases if case.name == call.case)
        complaints = [
            self.problem.judge_case(case, [kept[c.number] for c in case.calls]).complaints
            for kept in (self.kept[one], self.kept[other])
            if all(c.number in kept for c in case.calls)
        ]
        return all(complaint == complaints[0] for complaint in complaints)

    def _kinds(self) -> dict[str, list[str]]:
        """What kinds of values each entry point's calls give."""
        kinds: dict[str, dict[str, None]] = {}
        for call in self.problem.calls:
            expected = self.problem.expected[call.number]
            differentiable = bool(expected.gradients) and call.program.differentiate != ()
            for value in expected.values.values():
                own = kinds.setdefault(call.program.entry, {})
                own |= dict.fromkeys(_kinds_of(value, differentiable=differentiable))
        return {entry: list(found) for entry, found in kinds.items()}

    def _second_opinion(self, module: str) -> dict[str, Any]:
        """The reference against its oracle in reference/, case by case."""
        without_data.bring_in()  # an oracle may build its modules on the meta device
        namespace = vars(importlib.import_module(module))
        checked, complaints, worst = 0, [], 0.0
        for case in self.problem.cases:
            if any(call.program.entry not in namespace for call in case.calls):
                continue
            outcome = self.problem.judge_case(case, [self.problem.observe(namespace, call) for call in case.calls])
            checked += 1
            worst = max(worst, outcome.worst)
            complaints += [f"{case.name}: {d.subject} {d.message}" for d in outcome.differences]
        if not checked:
            raise ProblemError(f"problems/{self.problem.id}/problem.toml: oracle {module!r} defines no entry point")
        return {"checked": checked, "worst": worst, "complaints": complaints}


def _as_json(outcome: Outcome) -> dict[str, Any]:
    return {
        "findings": [
            {
                "facet": d.facet,
                "subject": _cut(d.subject, 80),
                "message": _cut(d.message, 700),
                "error": d.error if math.isfinite(d.error) else None,
                "line": d.line,
            }
            for d in outcome.differences[:_MOST_FINDINGS]
        ],
        "remarks": outcome.remarks,
        "worst": outcome.worst if math.isfinite(outcome.worst) else None,
        "severity": outcome.severity if math.isfinite(outcome.severity) else None,
        "failure": outcome.failure,
        "traceback": [_cut(line, 200) for line in outcome.traceback[-_MOST_FRAMES:]],
    }


def _cut(text: str, most: int) -> str:
    """The text, or as much of it as ``most`` bytes hold: a submission may return a dict of thousands of long keys."""
    data = text.encode(errors="surrogatepass")
    return text if len(data) <= most else data[:most].decode(errors="ignore") + " ..."


def _kinds_of(value: Any, *, differentiable: bool) -> list[str]:
    if isinstance(value, torch.Tensor):
        if value.dtype is torch.bool:
            return ["bool tensor"]
        if value.is_floating_point():
            return ["floating tensor", "differentiable tensor"] if differentiable else ["floating tensor"]
    return [type(value).__name__]
