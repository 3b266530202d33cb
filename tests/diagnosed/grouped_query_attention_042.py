import torch
import torch.nn.functional as F


def _check_sizes(*, d_model, num_heads, num_kv_heads):
    if d_model % num_heads != 0:
        raise ValueError(f"d_model ({d_model}) must be divisible by num_heads ({num_heads})")


def _project(x, weight, *, n_heads, head_dim):
    bsz, seq_len, _ = x.shape
    return F.linear(x, weight).reshape(bsz, seq_len, n_heads, head_dim).transpose(1, 2)


def _repeat_kv(states, *, n_rep):
    if n_rep == 1:
        return states
    return torch.repeat_interleave(states, n_rep, dim=1)


def _masked_softmax(scores, *, mask=None):
    if mask is None:
        return scores.softmax(dim=-1)
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return scores.softmax(dim=-1).masked_fill(~mask, 0.0)


def grouped_query_attention(x, num_heads, num_kv_heads, weight_q, weight_k, weight_v, weight_o, mask=None):
    _check_sizes(d_model=x.shape[-1], num_heads=num_heads, num_kv_heads=num_kv_heads)
    head_dim = x.shape[-1] // num_heads
    n_rep = num_heads // num_kv_heads
    query = _project(x, weight_q, n_heads=num_heads, head_dim=head_dim)
    key = _repeat_kv(_project(x, weight_k, n_heads=num_kv_heads, head_dim=head_dim), n_rep=n_rep)
    value = _repeat_kv(_project(x, weight_v, n_heads=num_kv_heads, head_dim=head_dim), n_rep=n_rep)
    probs = _masked_softmax(query @ key.transpose(-2, -1) / head_dim**0.5, mask=mask)
    context = (probs @ value).transpose(1, 2).flatten(start_dim=2)
    return F.linear(context, weight_o)
