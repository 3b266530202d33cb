import torch


def sigmoid_of(z):
    return torch.sigmoid(z)


def silu_of(z):
    s = torch.sigmoid(z)
    product = z * s
    return product


def gelu_of(z):
    function = torch.nn.GELU()
    value = function(z)
    return value


def relu_of(z):
    return torch.relu(z)


def identity_of(z):
    return z


def gated_mlp_forward(x, weight_gate, weight_up, weight_down, activation="silu"):
    table = {}
    table["silu"] = silu_of
    table["gelu"] = gelu_of
    table["relu"] = relu_of
    table["sigmoid"] = sigmoid_of
    table["identity"] = identity_of
    if activation not in table:
        message = "the activation " + repr(activation) + " does not exist"
        raise ValueError(message)
    act = table[activation]

    z = x @ weight_gate.T
    gate = act(z)
    up = x @ weight_up.T
    hidden = gate * up

    hidden_width = hidden.shape[-1]
    rows_of_down = weight_down.shape[0]
    if rows_of_down == hidden_width:
        down = weight_down
    else:
        down = weight_down.T
    result = hidden @ down
    return result


def mlp_parameter_count(d_model, d_ff, gated=False, bias=True):
    one_matrix = d_model * d_ff
    if gated:
        total = one_matrix + one_matrix + one_matrix
        all_biases = d_ff + d_ff + d_model
    else:
        total = one_matrix + one_matrix
        all_biases = d_ff + d_model
    if bias:
        total = total + all_biases
    return total


def matched_gated_width(d_ff, multiple_of=1):
    two_thirds = (2 * d_ff) // 3
    how_often = two_thirds // multiple_of
    rest = two_thirds - how_often * multiple_of
    if rest > 0:
        how_often = how_often + 1
    width = how_often * multiple_of
    return width


def mlp_forward_flops(num_tokens, d_model, d_ff, gated=False):
    per_matrix = 2 * d_model * d_ff
    if gated:
        per_token = 3 * per_matrix
    else:
        per_token = 2 * per_matrix
    total = num_tokens * per_token
    return total
