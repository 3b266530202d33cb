"""The original transformer: an encoder that reads the source and a decoder that predicts the target from it."""

from torch import nn


class EncoderDecoder(nn.Module):
    """Embeddings and sinusoidal positions, num_blocks encoder blocks, num_blocks decoder blocks, and a linear head.

    Its state_dict has these keys:
        source_tokens.weight (source_vocab, d_model), target_tokens.weight (target_vocab, d_model)
        encoder_blocks.{i}.*    the keys of the problem encoder-block
        decoder_blocks.{i}.*    the keys of the problem decoder-block
        head.weight (target_vocab, d_model), head.bias (target_vocab,)
    """

    def __init__(self, source_vocab, target_vocab, d_model, d_ff, num_heads, num_blocks, dropout=0.0):
        super().__init__()
        raise NotImplementedError

    def encode(self, source, source_lengths=None):
        """source: (batch, source_len) int64; source_lengths: None or (batch,) int64, how many tokens of each source
        are not padding. Returns (batch, source_len, d_model).
        """
        raise NotImplementedError

    def decode(self, target, encoder_output, source_lengths=None):
        """target: (batch, target_len) int64; encoder_output: (batch, source_len, d_model).
        Returns logits (batch, target_len, target_vocab).
        """
        raise NotImplementedError

    def forward(self, source, target, source_lengths=None):
        """Decode after encode: logits (batch, target_len, target_vocab)."""
        raise NotImplementedError
