"""One pass over shifted data: sums of x minus its first feature, so that a large mean costs no digits."""


def layer_norm_forward(*args, **kwargs):
    return _forward(*args, **kwargs)


def _forward(x, gamma, beta, eps=1e-5):
    d = x.shape[-1]
    shifted = x - x[..., :1].detach()
    first = shifted.sum(-1, keepdim=True) / d
    second = (shifted * shifted).sum(-1, keepdim=True) / d
    return (shifted - first) * (second - first * first + eps).rsqrt() * gamma + beta
