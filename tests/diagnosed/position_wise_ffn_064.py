import torch


def position_wise_ffn(x, weight1, bias1, weight2, bias2, activation="relu"):
    # check the name of the activation
    allowed = ["relu", "gelu"]
    if activation not in allowed:
        raise ValueError("activation has to be relu or gelu, not '" + str(activation) + "'")

    # first linear map
    weight1_t = weight1.transpose(0, 1)
    product1 = torch.matmul(x, weight1_t)
    hidden = product1 + bias1

    # second linear map
    weight2_t = weight2.transpose(0, 1)
    product2 = torch.matmul(hidden, weight2_t)
    output = product2 + bias2
    return output
