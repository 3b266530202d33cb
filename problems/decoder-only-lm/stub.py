"""A GPT: token and position embeddings, causal pre-norm blocks, a final norm, and a head tied to the embedding."""

from torch import nn


class DecoderOnlyLM(nn.Module):
    """Predicts the next token at every position.

    Its state_dict has these keys:
        tokens.weight                                                      (vocab_size, d_model)
        positions.weight                                                   (max_len, d_model)
        blocks.{i}.norm1.weight, blocks.{i}.norm1.bias                     (d_model,)
        blocks.{i}.attention.{q_proj,k_proj,v_proj,o_proj}.weight          (d_model, d_model)
        blocks.{i}.attention.{q_proj,k_proj,v_proj,o_proj}.bias            (d_model,)
        blocks.{i}.norm2.weight, blocks.{i}.norm2.bias                     (d_model,)
        blocks.{i}.mlp.fc1.weight (d_ff, d_model), blocks.{i}.mlp.fc1.bias (d_ff,)
        blocks.{i}.mlp.fc2.weight (d_model, d_ff), blocks.{i}.mlp.fc2.bias (d_model,)
        norm.weight, norm.bias                                             (d_model,)
        head.weight                                                        the same parameter as tokens.weight
    """

    def __init__(self, vocab_size, max_len, d_model, d_ff, num_heads, num_blocks, dropout=0.0):
        super().__init__()
        raise NotImplementedError

    def forward(self, ids, offset=0):
        """ids: (batch, seq_len) int64; row i of a sequence has the position offset + i.

        Returns logits, (batch, seq_len, vocab_size). ValueError if a position is not in 0 .. max_len - 1.
        """
        raise NotImplementedError
