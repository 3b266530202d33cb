"""Style: unflatten, flatten and movedim, which name what they do."""


class HeadWidthError(ValueError):
    pass


def split_heads(x, num_heads, *, name="num_heads"):
    if divmod(x.shape[-1], num_heads)[1]:
        raise HeadWidthError(f"{name} {num_heads} must divide the width {x.shape[-1]}")
    return x.unflatten(-1, (num_heads, -1)).movedim(-2, -3)


def merge_heads(x):
    return x.movedim(-3, -2).flatten(-2)
