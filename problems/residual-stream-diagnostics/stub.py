"""How large the residual stream is at each depth, how large its gradients are, and how fast the norms grow."""


def residual_stream_norms(x, blocks):
    """x: (batch, seq_len, d_model), the stream before the first block; blocks: a sequence of callables.

    Returns the root mean squares of the stream before the first and after each block, float64, (len(blocks) + 1,).
    """
    raise NotImplementedError


def gradient_norms(x, blocks, loss_fn):
    """x and blocks as above; loss_fn(the stream after the last block) is a scalar tensor.

    Returns the L2 norms of the loss's gradients with respect to the stream before the first and after each block,
    float64, (len(blocks) + 1,).
    """
    raise NotImplementedError


def growth_exponent(norms):
    """norms: a 1-D tensor or a sequence of floats, the norm before the first block and after each.

    Returns the slope, a float, of log(norm) against log(depth) at depth 1, 2, ..., by least squares. ValueError for
    fewer than 3 entries and for an entry after the first that is not finite and positive.
    """
    raise NotImplementedError
