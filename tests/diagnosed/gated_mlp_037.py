import torch


def gated_mlp_forward(x, weight_gate, weight_up, weight_down, activation="silu"):
    gate_weight_transposed = weight_gate.transpose(0, 1)
    up_weight_transposed = weight_up.transpose(0, 1)
    down_weight_transposed = weight_down.transpose(0, 1)

    z = torch.matmul(x, gate_weight_transposed)
    if activation == "silu":
        sigmoid = torch.sigmoid(z)
        gate = z * sigmoid
    elif activation == "gelu":
        gate = torch.nn.functional.gelu(z)
    elif activation == "relu":
        gate = torch.relu(z)
    elif activation == "sigmoid":
        gate = torch.sigmoid(z)
    elif activation == "identity":
        gate = z
    else:
        raise ValueError("unknown activation: " + repr(activation))

    up = torch.matmul(x, up_weight_transposed)
    hidden = gate * up
    result = torch.matmul(hidden, down_weight_transposed)
    return result


def mlp_parameter_count(d_model, d_ff, gated=False, bias=True):
    up = d_model * d_ff
    down = d_ff * d_model
    count = up + down
    if gated:
        gate = d_model * d_ff
        count = count + gate
    if bias:
        up_bias = d_ff
        down_bias = d_model
        count = count + up_bias + down_bias
        if gated:
            gate_bias = d_ff
            count = count + gate_bias
    return count


def matched_gated_width(d_ff, multiple_of=1):
    double = 2 * d_ff
    whole = double // 3
    rest = double % 3
    if rest == 2:
        width = whole + 1
    else:
        width = whole
    too_much = width % multiple_of
    if too_much != 0:
        missing = multiple_of - too_much
        width = width + missing
    return width


def mlp_forward_flops(num_tokens, d_model, d_ff, gated=False):
    number_of_matrices = 2
    if gated:
        number_of_matrices = 3
    one_matrix = d_model * d_ff
    multiply_adds = num_tokens * number_of_matrices * one_matrix
    flops = 2 * multiply_adds
    return flops
