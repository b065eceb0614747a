"""Names of modules and parameters in keys."""

from __future__ import annotations

import re

from monitorch._models import cut_segments

ROOT = "[root module]"
# A group such as `(?:a|b)` has a colon that matches nothing in the text.
_GROUP = re.compile(r"\(\?[aiLmsux-]*:")


def format_module_name(name: str) -> str:
    """The name without prefixes of torch.compile, FSDP and DeepSpeed; "[root module]" for the model
    itself."""
    return cut_segments(name) or ROOT


def names_locals(regex: str) -> bool:
    """Whether a metric's regex selects values inside of forwards: "encoder.forward:scores"."""
    return ":" in _GROUP.sub("", regex)
