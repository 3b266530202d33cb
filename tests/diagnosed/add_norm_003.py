from torch import nn


class AddNorm(nn.Module):
    """First the add, then the norm."""

    def __init__(self, d_model, dropout=0.0):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x, sublayer_output):
        # step 1: the shapes
        shape_of_x = list(x.shape)
        shape_of_output = list(sublayer_output.shape)
        same = shape_of_x == shape_of_output
        if not same:
            message = "x has shape " + str(shape_of_x) + " but sublayer_output has shape " + str(shape_of_output)
            raise ValueError(message)

        # step 2: dropout on the sublayer's output
        dropped_output = self.dropout(sublayer_output)

        # step 3: the residual add
        total = x
        total += dropped_output

        # step 4: the norm
        result = self.norm(total)
        return result
