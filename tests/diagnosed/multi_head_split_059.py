from torch import einsum


def split_heads(x, num_heads):
    b, s, d = x.shape
    if d % num_heads:
        raise ValueError(f"{num_heads} heads do not divide d_model = {d}")
    h, e = num_heads, d // num_heads
    heads = x.reshape(b, s, h, e)
    if heads.shape[1] != h:
        heads = einsum("bshe->bhse", heads)
    return heads


def merge_heads(x):
    b, h, s, e = x.shape
    return einsum("bhse->bshe", x).reshape(b, s, h * e)
