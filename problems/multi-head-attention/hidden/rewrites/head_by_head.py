"""Style: a loop over heads with slices of the weights, outputs added up, each query shown its visible keys only."""

import math

import torch


class UnevenHeadsError(ValueError):
    pass


def multi_head_attention(query, key, value, num_heads, weight_q, weight_k, weight_v, weight_o, *rest, **named):
    names = ("bias_q", "bias_k", "bias_v", "bias_o", "mask")
    given = {**dict(zip(names, rest, strict=False)), **named}
    bias_q, bias_k, bias_v, bias_o, mask = (given.get(name) for name in names)
    d_model = weight_o.shape[0]
    if d_model % num_heads:
        raise UnevenHeadsError(f"{num_heads} heads do not divide {d_model}")
    shape = (query.shape[0], num_heads, query.shape[1], key.shape[1])
    visible = query.new_ones(shape, dtype=torch.bool) if mask is None else mask.expand(shape)
    output = query.new_zeros(query.shape) if bias_o is None else bias_o.expand(query.shape)
    for head, rows in enumerate(torch.arange(d_model, device=query.device).chunk(num_heads)):
        q, k, v = (
            x @ weight[rows].T + (0 if bias is None else bias[rows])
            for x, weight, bias in ((query, weight_q, bias_q), (key, weight_k, bias_k), (value, weight_v, bias_v))
        )
        output = output + _attend(q / math.sqrt(len(rows)), k, v, visible[:, head]) @ weight_o[:, rows].T
    return output


def _attend(q, k, v, visible):
    outputs = []
    for sequence in range(q.shape[0]):
        for position in range(q.shape[1]):
            seen = visible[sequence, position].nonzero().flatten()
            weights = torch.softmax(k[sequence, seen] @ q[sequence, position], dim=0)
            outputs.append(weights @ v[sequence, seen])
    return torch.stack(outputs).view(q.shape)
