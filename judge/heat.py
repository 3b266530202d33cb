"""Where a wrong tensor is wrong, as a small map of its last two axes: what `judge submit --html` draws."""

from __future__ import annotations

import math
from typing import Any

import torch

from judge.compare import TOKEN_FLOOR, tolerance, wide
from judge.profile import axes

CELLS = 16  # along each axis, at most
LEAST, MOST = -16.0, 6.0


def heat_map(observed: torch.Tensor, expected: torch.Tensor, dtype: str) -> dict[str, Any] | None:
    """The fields of a ``HeatMap`` for two tensors of one shape; None where there are not two entries to tell apart."""
    if expected.numel() < 2:
        return None
    rows, columns = (1, *expected.shape)[-2:]
    errors = _log_errors(observed, expected).reshape(-1, rows, columns).amax(0)
    row_step, column_step = math.ceil(rows / CELLS), math.ceil(columns / CELLS)
    padding = (0, -columns % column_step, 0, -rows % row_step)
    whole = torch.nn.functional.pad(errors, padding, value=LEAST)
    cells = whole.reshape(-1, row_step, whole.shape[1] // column_step, column_step).amax((1, 3))
    *others, row_name, column_name = axes(expected.dim())
    return {
        "others": others or ["other axes"] * (expected.dim() > 2),
        "rows": row_name,
        "columns": column_name,
        "row_step": row_step,
        "column_step": column_step,
        "values": [[round(cell, 2) for cell in row] for row in cells.tolist()],
        "tolerance": round(math.log10(tolerance(dtype)), 2),
    }


def _log_errors(observed: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    if not (expected.is_floating_point() or expected.is_complex()):
        return torch.where(observed == expected, LEAST, 0.0).double()
    one, other = wide(observed), wide(expected)
    size = other.abs().square().mean(-1, keepdim=True).sqrt()
    scale = size.clamp_min(max(TOKEN_FLOOR * size.mean().item(), 1e-300))
    errors = torch.where(one == other, 0.0, (one - other).abs() / scale)
    return errors.nan_to_num(math.inf).log10().clamp(LEAST, MOST)
