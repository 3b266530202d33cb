"""Divides by the vector's length: the mean square is the squared length over d."""

import math

import torch


def rms_norm_forward(x, gamma, eps=1e-6):
    d = x.shape[-1]
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    longer = torch.sqrt(length * length + d * eps)
    return gamma * math.sqrt(d) * x / longer
