"""The functions and classes that a problem may close, as data, and the spellings under which one is met.

A problem closes groups ("norms") and single names. A name is dotted ("torch.nn.functional.gelu"), may ask for a keyword
("torch.nn.functional.scaled_dot_product_attention(enable_gqa=True)"), or is an operator ("aten::native_layer_norm"),
which is what code reaches that goes past Python's names. Standard library only: a student worker imports this.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from judge.suggest import did_you_mean


def _names(prefix: str, names: str) -> tuple[str, ...]:
    return tuple(prefix + name for name in names.split())


# On torch 2.13 rms_norm and local_response_norm decompose on the CPU into open operators before any dispatch is seen;
# their own operators are listed for other devices and for direct calls.
NORMS = (
    _names(
        "torch.nn.",
        "LayerNorm RMSNorm GroupNorm LocalResponseNorm CrossMapLRN2d SyncBatchNorm "
        "BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d "
        "InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d",
    )
    + _names("torch.nn.functional.", "layer_norm rms_norm group_norm batch_norm instance_norm local_response_norm")
    + _names(
        "torch.",
        "layer_norm rms_norm group_norm batch_norm instance_norm native_layer_norm native_group_norm native_batch_norm "
        "_fused_rms_norm _batch_norm_impl_index _native_batch_norm_legit _native_batch_norm_legit_no_training "
        "cudnn_batch_norm miopen_batch_norm quantized_batch_norm batch_norm_stats batch_norm_elemt "
        "batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_update_stats",
    )
    + _names(
        "aten::",
        "layer_norm rms_norm group_norm batch_norm instance_norm native_layer_norm native_group_norm native_batch_norm "
        "_fused_rms_norm _batch_norm_impl_index _batch_norm_no_update _batch_norm_with_update "
        "_batch_norm_with_update_functional _native_batch_norm_legit _native_batch_norm_legit_functional "
        "_native_batch_norm_legit_no_training cudnn_batch_norm miopen_batch_norm quantized_batch_norm "
        "batch_norm_stats batch_norm_elemt batch_norm_gather_stats batch_norm_gather_stats_with_counts "
        "batch_norm_update_stats",
    )
)
ATTENTION_MODULES = (
    _names(
        "torch.nn.",
        "MultiheadAttention Transformer TransformerEncoder TransformerEncoderLayer "
        "TransformerDecoder TransformerDecoderLayer",
    )
    + _names("torch.nn.functional.", "multi_head_attention_forward")
    + _names("torch.", "_native_multi_head_attention _triton_multi_head_attention _transformer_encoder_layer_fwd")
    + _names("aten::", "_native_multi_head_attention _triton_multi_head_attention _transformer_encoder_layer_fwd")
)
FUSED_ATTENTION = (
    _names("torch.nn.functional.", "scaled_dot_product_attention")
    + _names("torch.nn.attention.", "flex_attention.flex_attention varlen.varlen_attn varlen.varlen_attn_out")
    + _names(
        "torch.",
        "_scaled_dot_product_attention_math _scaled_dot_product_attention_math_for_mps "
        "_scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu "
        "_scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention "
        "_flash_attention_forward_no_dropout_inplace _triton_scaled_dot_attention",
    )
    + _names(
        "aten::",
        "scaled_dot_product_attention _scaled_dot_product_attention_math _scaled_dot_product_attention_math_for_mps "
        "_scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu "
        "_scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention "
        "_scaled_dot_product_fused_attention_overrideable _flash_attention_forward "
        "_flash_attention_forward_no_dropout_inplace _efficient_attention_forward _cudnn_attention_forward "
        "_triton_scaled_dot_attention",
    )
)
GROUPS = {"norms": NORMS, "attention-modules": ATTENTION_MODULES, "fused-attention": FUSED_ATTENTION}

_NAME = re.compile(r"(torch(\.[A-Za-z_]\w*)+(\([a-z_]\w*=(True|False)\))?|aten::[A-Za-z_]\w*)")

# Other homes of the same functions and classes, and where their users know them from.
_HOMES = (
    (re.compile(r"torch\.(_ops\.)?ops\.aten\.(\w+).*"), r"aten::\2"),
    (re.compile(r"torch\.(nn\.modules\.\w+\.F|_C\._nn|_refs\.nn\.functional)\."), "torch.nn.functional."),
    (re.compile(r"torch\.nn\.modules\.([a-z]\w*\.)?([A-Z])"), r"torch.nn.\2"),
    (re.compile(r"torch\.(_C\._VariableFunctions|_VF|functional|_refs)\."), "torch."),
)


def expand(closed: Sequence[str]) -> tuple[str, ...]:
    """Replace groups by their names; each name once, in order. Raises ValueError for what is neither."""
    names: list[str] = []
    for entry in closed:
        if entry in GROUPS:
            names.extend(GROUPS[entry])
        elif _NAME.fullmatch(entry):
            names.append(entry)
        else:
            raise ValueError(_why_not(entry))
    return tuple(dict.fromkeys(names))


def split_keyword(name: str) -> tuple[str, tuple[str, bool] | None]:
    """Split "torch.f(keyword=True)" into the dotted name and ("keyword", True), or None without one."""
    dotted, _, rest = name.rstrip(")").partition("(")
    keyword, _, value = rest.partition("=")
    return dotted, (keyword, value == "True") if keyword else None


def canonical(dotted: str) -> str:
    """Give the name under which the groups list it: ``torch.nn.modules.LayerNorm`` is ``torch.nn.LayerNorm``."""
    for pattern, home in _HOMES:
        if pattern.match(dotted):
            return pattern.sub(home, dotted, count=1)
    return dotted


def _why_not(entry: str) -> str:
    if "." in entry or "::" in entry or "(" in entry:
        return (
            f"{entry!r} is not a full name; write it as torch.nn.functional.gelu, with one keyword as "
            "torch.nn.functional.gelu(keyword=True), or as an operator, aten::gelu"
        )
    return (
        f"there is no group {entry!r}; the groups are {', '.join(GROUPS)}, and a single function is closed by its full "
        f"name, as in torch.nn.functional.gelu{did_you_mean(entry, GROUPS)}"
    )
