"""The example of statement.md, computed with the reference."""

import torch

x = torch.tensor([[[1.0, 2.0, 3.0, 4.0], [4.0, 0.0, 2.0, 2.0]]], dtype=torch.float64)
eye, zeros, ones = torch.eye(4).double(), torch.zeros(4).double(), torch.ones(4).double()
attention_params = {"weight_o": eye, "bias_o": zeros}
ffn = {"ffn_weight1": eye, "ffn_bias1": zeros, "ffn_weight2": torch.zeros(4, 4).double(), "ffn_bias2": zeros}
norms = {"gamma1": ones, "beta1": zeros, "gamma2": ones, "beta2": zeros}
block_params = {**attention_params, **ffn, **norms}
print(f"x = torch.tensor({x.tolist()})")
print("#", rounded(pre_norm_transformer_block_forward(x, 2, **block_params)))
print("#", rounded(post_norm_transformer_block_forward(x, 2, **block_params)))

reads = layer_norm(x, ones, zeros, 1e-5)
print(f"reads `{rounded(reads[0, 0])}` in place of the first token, but adds to `{rounded(x[0, 0], 0)}`")


def sizes(stack):
    """The root mean square after 0, 1, 2, 4, 8 and 16 blocks."""
    streams = [stack(x, 2, block_params, num_blocks) for num_blocks in (0, 1, 2, 4, 8, 16)]
    return ", ".join(rounded(stream.square().mean().sqrt(), 2) for stream in streams)


print(f"{sizes(stack_pre_norm_blocks)} (pre-norm) and {sizes(stack_post_norm_blocks)} (post-norm)")
