from monitorch.spy.base import BaseDebugger as BaseDebugger
from monitorch.spy.graph import Node as Node
from monitorch.spy.graph import apply_graph_render_options as apply_graph_render_options
from monitorch.spy.graph import build_tree as build_tree
from monitorch.spy.graph import construct_graph as construct_graph
from monitorch.spy.graph import parse_trace as parse_trace
from monitorch.spy.graph import prune_leaves as prune_leaves
from monitorch.spy.graph import render_graph as render_graph
from monitorch.spy.graph import save_tree_json as save_tree_json
from monitorch.spy.graph import squash_numeric_indices as squash_numeric_indices
from monitorch.spy.load import SavedTensors as SavedTensors
from monitorch.spy.load import spy_load as spy_load
from monitorch.spy.saver import DebugContext as DebugContext
from monitorch.spy.saver import TensorSaver as TensorSaver
from monitorch.spy.saver import get_debug_context as get_debug_context
from monitorch.spy.saver import spy_save as spy_save
from monitorch.spy.tracer import CallTracer as CallTracer

__all__ = [
    "BaseDebugger",
    "CallTracer",
    "DebugContext",
    "Node",
    "SavedTensors",
    "TensorSaver",
    "apply_graph_render_options",
    "build_tree",
    "construct_graph",
    "get_debug_context",
    "parse_trace",
    "prune_leaves",
    "render_graph",
    "save_tree_json",
    "spy_load",
    "spy_save",
    "squash_numeric_indices",
]
