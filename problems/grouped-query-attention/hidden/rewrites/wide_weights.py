"""Style: the shared weights are widened until every query head has its own, and fused; PyTorch's fused attention."""

import torch
import torch.nn.functional as F


def grouped_query_attention(x, num_heads, num_kv_heads, weight_q, weight_k, weight_v, weight_o, mask=None):
    batch, seq_len, d_model = x.shape
    if d_model % num_heads or num_heads % num_kv_heads:
        raise ValueError(f"can't share d_model={d_model} and num_kv_heads={num_kv_heads} among num_heads={num_heads}")

    def widened(weight):
        heads = weight.reshape(num_kv_heads, 1, d_model // num_heads, d_model)
        return heads.expand(-1, num_heads // num_kv_heads, -1, -1).reshape(d_model, d_model)

    fused = torch.cat([weight_q, widened(weight_k), widened(weight_v)])
    heads = F.linear(x, fused).view(batch, seq_len, 3, num_heads, -1).permute(2, 0, 3, 1, 4)
    if mask is not None:
        mask = mask.expand(*mask.shape[:-2], seq_len, seq_len)
    output = F.scaled_dot_product_attention(*heads, attn_mask=mask)
    return F.linear(torch.cat(output.unbind(1), dim=-1), weight_o)
