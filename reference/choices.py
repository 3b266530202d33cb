"""Oracle of the plain answers: architectures from two properties of a task, sizes from published ratios and counts.

Prince, "Understanding Deep Learning", sections 12.5 to 12.8; Devlin et al. 2019, section 3; Brown et al. 2020,
table 2.1.
"""

from __future__ import annotations

from reference.mlp import mlp_parameter_count

# Whether a task reads a source that is no part of what it writes, and whether it writes at all, token by token.
_TASKS = {
    "masked-word-prediction": (True, False),
    "sentence-embedding": (True, False),
    "entity-tagging": (True, False),
    "image-classification": (True, False),
    "next-word-prediction": (False, True),
    "code-completion": (False, True),
    "text-likelihood": (False, True),
    "story-generation": (False, True),
    "translation": (True, True),
    "speech-to-text": (True, True),
    "article-summary": (True, True),
    "image-captioning": (True, True),
}
_HALVES = ("encoder", "decoder")  # what reads a source, what writes

ARCHITECTURE = {
    task: "-".join(half for half, needed in zip(_HALVES, needs, strict=True) if needed)
    for task, needs in _TASKS.items()
}

PRE_NORM_ORDER = ["norm", "attention", "add"]
POST_NORM_ORDER = PRE_NORM_ORDER[1:] + PRE_NORM_ORDER[:1]  # the same steps with the norm behind the add

GATED_MLP_MATRICES = mlp_parameter_count(2, 3, gated=True, bias=False) // (2 * 3)


def _sizes(layers: int, heads: int, head_width: int) -> dict[str, int]:
    return {"layers": layers, "width": heads * head_width, "heads": heads, "head_width": head_width}


GPT_3 = _sizes(layers=96, heads=96, head_width=128)
BERT_LARGE = _sizes(layers=24, heads=16, head_width=64)
BERT_LARGE["mlp_width"] = 4 * BERT_LARGE["width"]

CROSS_ATTENTION_SOURCES = {"query": _HALVES[1], "key": _HALVES[0], "value": _HALVES[0]}
