"""Float64 inside, in place on its own temporaries, and a result whose memory runs along another axis."""

import torch


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    work = x.to(torch.float64, copy=True)
    work -= work.mean(-1, keepdim=True)
    work = gamma.double() * work / (work.std(-1, correction=0, keepdim=True) ** 2 + eps).sqrt()
    work += beta.double()
    return work.movedim(-1, 0).to(x.dtype).contiguous().movedim(0, -1)
