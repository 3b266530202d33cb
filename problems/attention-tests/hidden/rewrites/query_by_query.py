"""Plain loops: each query looks at the keys it may see, and at no others; what doesn't fit is refused at the door."""
# style: refuses arguments that do not fit with a subclass of ValueError of its own

import math

import torch


class MisfitError(ValueError):
    """Arguments whose shapes or dtypes don't go together, or that are no arguments of this function."""


def scaled_dot_product_attention(query, key, value, mask=None, scale=None, *, return_weights=True):
    leading, (q_len, d_k), k_len = query.shape[:-2], query.shape[-2:], key.shape[-2]
    if key.shape[-1] != d_k or value.shape[-2] != k_len or not leading == key.shape[:-2] == value.shape[:-2]:
        raise MisfitError(f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}")
    if {query.dtype, key.dtype, value.dtype} not in ({torch.float64}, {torch.float32}, {torch.bfloat16}):
        raise MisfitError(f"query {query.dtype}, key {key.dtype}, value {value.dtype}")
    if not isinstance(scale, int | float | None):
        raise MisfitError(f"a scale of type {type(scale).__name__}")
    if mask is not None and mask.dtype is not torch.bool:
        raise MisfitError(f"a mask of {mask.dtype}")
    scale = 1 / math.sqrt(d_k) if scale is None else scale
    visible = torch.ones(*query.shape[:-1], k_len, dtype=torch.bool, device=query.device)
    visible = (visible if mask is None else visible & mask).reshape(-1, q_len, k_len)
    queries, keys, values = (part.reshape(-1, *part.shape[-2:]) for part in (query, key, value))
    outputs, weights = [], []
    for head in range(len(queries)):
        for position in range(q_len):
            seen = visible[head, position].nonzero().flatten()
            scores = (keys[head, seen] * queries[head, position] * scale).sum(-1)
            row = torch.softmax(scores, 0)
            outputs.append(row @ values[head, seen])
            weights.append(query.new_zeros(k_len).index_copy(0, seen, row))
    output = torch.stack(outputs).view(*leading, q_len, value.shape[-1])
    return (output, torch.stack(weights).view(*leading, q_len, k_len)) if return_weights else (output, None)
