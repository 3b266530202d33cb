"""Style: nested Python lists, one comparison per entry, made into tensors at the end."""

import torch


class LengthError(ValueError):
    pass


def causal_mask(q_len, k_len=None, offset=0):
    columns = range(k_len if k_len is not None else q_len + offset)
    return torch.tensor([[key <= query + offset for key in columns] for query in range(q_len)])


def padding_mask(lengths, max_len):
    rows = []
    for length in lengths:
        length = int(length)
        if not 0 <= length <= max_len:
            raise LengthError(f"{length} tokens do not fit into 0 to {max_len}")
        rows.append([[[True] * length + [False] * (max_len - length)]])
    return torch.tensor(rows, device=lengths.device)


def combine_masks(*masks):
    masks = list(filter(lambda mask: mask is not None, masks))
    if len(masks) < 2:
        return masks[0] if masks else None
    return torch.logical_and(masks[0], combine_masks(*masks[1:]))
