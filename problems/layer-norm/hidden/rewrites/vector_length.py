"""A callable object that divides by a vector's length, the features moved to the front."""

import math

import torch


class _Normalizer:
    def __call__(self, x, gamma, beta, eps=1e-5, out_dtype=None):
        columns = x.movedim(-1, 0)  # (d, ...)
        d = len(columns)
        deviations = columns - sum(columns.unbind()) / d
        length = torch.linalg.vector_norm(deviations, dim=0)  # (...)
        normalized = deviations * math.sqrt(d) / torch.sqrt(length**2 + d * eps)
        result = normalized.movedim(0, -1) * gamma + beta
        return result if out_dtype is None else result.to(out_dtype)


layer_norm_forward = _Normalizer()
