"""The comparing process's answers: whatever a submission gives, they fit into a frame, and no verdict is lost."""

from __future__ import annotations

import textwrap

import pytest


def body(text):
    return (
        "import torch\n\n\ndef solve(x, y):\n    r = torch.softmax(x @ y, -1)\n" + textwrap.indent(text, "    ") + "\n"
    )


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("return {f'{i}' * 200: r[0, 0].detach() for i in range(2000)}", "wrong answer"),
        ("return {'\\U0001f600' * 300_000 + str(i): r.detach() for i in range(3)}", "wrong answer"),
        (
            "class Keys(set):\n    def __iter__(self): return iter(i * (2**61 - 1) for i in range(3_000))\nreturn Keys()",
            "runtime error",
        ),
        ("return [{i * (2**61 - 1): i for i in range(1000)}] * 30", "runtime error"),
        ("return {i * (2**61 - 1): i for i in range(1900)}", "wrong answer"),
        (
            "x.data = torch.empty(0, 3, dtype=x.dtype)\nx.grad = torch.zeros(0, 3, dtype=x.dtype)\nreturn r",
            "wrong answer",
        ),
        ("raise ValueError('\\0\\U0001f600' * 100_000)", "runtime error"),
    ],
    ids=lambda value: value[:40],
)
def test_findings_without_end_are_cut_and_the_verdict_stays(judged, text, verdict):
    report = judged(body(text))
    assert report.verdict == verdict, report.message
    for case in report.failed:
        assert len(case.findings) <= 10
        assert all(len(finding.subject) < 100 and len(finding.message) < 1000 for finding in case.findings)
    assert judged(body("return r")).verdict == "accepted"
