"""Trusted oracles: every problem's entry points once more, on PyTorch's own operations."""
