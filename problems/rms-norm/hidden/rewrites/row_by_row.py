"""Plain loops over the tokens, a dot product for the sum of squares, and one stack at the end."""

import torch


def rms_norm_forward(x, gamma, eps=1e-6):
    def normalize(vector):
        if vector.dim() > 1:
            return torch.stack([normalize(part) for part in vector])
        return vector / (torch.dot(vector, vector) / len(vector) + eps) ** 0.5 * gamma

    return normalize(x)
