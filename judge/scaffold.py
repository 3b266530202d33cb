"""`judge new`: the folder of a new problem, which `judge verify` refuses until everything in it is written.

What is still to do stands in the files themselves, and in ``STEPS`` in the order in which it is done best.
"""

from __future__ import annotations

import keyword
import re
from pathlib import Path

from judge.catalog import PROBLEMS
from judge.errors import UsageError

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

STEPS = (
    ("problem.toml", "title, track, unit, points, the entry points' signatures, what is closed"),
    ("statement.md", "the contract, one worked example whose numbers you have run, sources, three hints"),
    ("stub.py", "the signatures with their shapes, and nothing that passes"),
    ("hidden/reference.py", "the model answer: one decision in a line, so that bugs are edits of single statements"),
    ("hidden/example.py", "the statement's example, computed with the reference and printed as it stands there"),
    ("cases.py", "inputs that amplify bugs: distinct sizes, random gains and biases, masks, odd strides"),
    ("hidden/mutants.toml", "a dozen mistakes that students make, each with the cases that must catch it"),
    ("hidden/rewrites/", "three to five right answers in truly different styles"),
    ("reference/", "a second implementation on PyTorch's own operations; name it as oracle in problem.toml"),
)

_FILES = {
    "problem.toml": """\
format = 1
title = "{title}"
track = 1                       # 1 normalization, 2 attention, 3 blocks, 4 accounting, 5 tests
unit = "7.5"
difficulty = "easy"             # easy, medium, hard
prerequisites = []
points = 10
closed = []                     # "norms", "attention-modules", "fused-attention", or a dotted name
inputs_shown = true

[entry_points]
{name} = "(x)"
""",
    "statement.md": """\
# {title}

Say what it is and why it matters. Then the contract.

```python
{name}(x)
```

| | shape |
|---|---|
| `x` | `(..., d)`, floating |
| result | `(..., d)`, the dtype of `x` |

## Example

Give one small input and its result, with numbers that you have run.

## Sources

Name the paper and the section of the book.

## Hints

### Symptom

Say what a student sees who is stuck.

### Area

Say where to look.

### Idea

Say the idea, without the code.
""",
    "stub.py": '''\
"""{title}."""


def {name}(x):
    """x (..., d) -> (..., d)."""
    raise NotImplementedError
''',
    "cases.py": '''\
"""The cases of {title}."""

from judge.authoring import call, case


@case
def plain(draw):
    """is right on an ordinary input"""
    return call("{name}", draw.stream(2, 5, 7))
''',
    "hidden/reference.py": '''\
"""{title}: the model answer."""


def {name}(x):
    raise NotImplementedError("write hidden/reference.py")
''',
    "hidden/example.py": '''\
"""The example of statement.md, computed with the reference."""

import torch

print(rounded({name}(torch.ones(3))))
''',
    "hidden/mutants.toml": """\
# A mutant is an edit of one statement of hidden/reference.py:
#
# [its_name]
# before = "mean = x.mean(-1, keepdim=True)"
# after = "mean = x.mean(0, keepdim=True)"
# kills = ["plain"]
# what = "averages over the batch"
# idea = "each token is normalized by itself"
""",
}


def make(problem_id: str, folder: Path = PROBLEMS) -> Path:
    """Make the folder. Raises UsageError for an id that is none, or is taken, and where nothing can be written."""
    if not _ID.fullmatch(problem_id):
        raise UsageError(f"{problem_id!r} is no id; use lower-case words joined by hyphens, such as pre-norm-block")
    home = folder / problem_id
    values = {"name": problem_id.replace("-", "_"), "title": problem_id.replace("-", " ").capitalize()}
    if values["name"][0].isdigit() or keyword.iskeyword(values["name"]):
        values["name"] = f"solve_{values['name']}"
    try:
        (home / "hidden" / "rewrites").mkdir(parents=True)
        for name, text in _FILES.items():
            (home / name).write_text(text.format(**values), encoding="utf-8")
    except FileExistsError as exc:
        raise UsageError(f"{home}: there is a problem of this id; choose another, or edit that one") from exc
    except OSError as exc:
        raise UsageError(f"{home}: the folder can't be written ({exc.strerror}); work in a checkout of judge") from exc
    return home
