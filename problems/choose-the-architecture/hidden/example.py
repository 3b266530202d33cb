"""The example of statement.md, computed with the reference."""

import json


def sizes(layers, width, heads):
    """In the form of BERT_LARGE."""
    return dict(zip(BERT_LARGE, (layers, width, heads, width // heads, 4 * width), strict=True))


if sizes(24, 1024, 16) == BERT_LARGE:
    base = sizes(6, 512, 8)
    print("BASE_TRANSFORMER =", json.dumps(base))
    print(f"`512 / 8 = {base['head_width']}` and `4 * 512 = {base['mlp_width']}`")
