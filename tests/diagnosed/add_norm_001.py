import torch
from torch import nn


class AddNorm(nn.Module):
    def __init__(self, d_model, dropout=0.0):
        super().__init__()
        self.d_model = d_model
        self.norm = nn.LayerNorm(d_model, eps=1e-5)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, sublayer_output):
        if x.shape != sublayer_output.shape:
            raise ValueError(
                f"sublayer_output has the shape {tuple(sublayer_output.shape)}, but x has {tuple(x.shape)}"
            )
        stream = x.reshape(-1, self.d_model)
        update = self.drop(sublayer_output).reshape(-1, self.d_model)
        normed = []
        for position in range(stream.shape[0]):
            token = update[position]
            normed.append(self.norm(token))
        return torch.stack(normed).reshape(x.shape)
