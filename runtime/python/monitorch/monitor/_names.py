"""What modules and parameters are called."""

from __future__ import annotations

import re

from monitorch._models import cut_segments

ROOT = "[root module]"
# A group such as `(?:a|b)` has a colon that stands for nothing in the text.
_GROUP = re.compile(r"\(\?[aiLmsux-]*:")


def format_module_name(name: str) -> str:
    """Without what torch.compile, FSDP and DeepSpeed put in front of names; the model itself is
    "[root module]"."""
    return cut_segments(name) or ROOT


def names_locals(regex: str) -> bool:
    """Whether a metric's regex is about values inside of forwards: "encoder.forward:scores"."""
    return ":" in _GROUP.sub("", regex)
