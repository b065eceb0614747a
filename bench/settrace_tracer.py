"""What bench_tracer.py is measured against: the variables of modules' forwards, traced by a function of
Python's that `sys.settrace` calls at each line."""

import copy
import sys

import torch
from torch import nn

PLAIN = (type(None), bool, int, float, complex, str, bytes)


class SettraceTracer:
    """Keeps each local variable of the given modules' forwards whenever it has changed."""

    def __init__(self, model, modules):
        self.paths = {id(module): path for path, module in modules.items()}
        self.codes = {type(module).forward.__code__ for module in modules.values()}
        self.model = model
        self.iteration = 0
        self.results = {}
        self.last = {}

    def __enter__(self):
        self.handle = self.model.register_forward_pre_hook(self.count)
        sys.settrace(self.trace_call)
        return self

    def __exit__(self, *error):
        sys.settrace(None)
        self.handle.remove()

    def count(self, module, args):
        self.iteration += 1

    def trace_call(self, frame, event, arg):
        if frame.f_code not in self.codes:
            return None
        path = self.paths.get(id(frame.f_locals.get("self")))
        if path is None:
            return None

        def trace_line(frame, event, arg):
            for name, value in frame.f_locals.items():
                self.look_at(f"{path}.forward.{name}", value)
            return trace_line

        return trace_line

    def look_at(self, path, value):
        if isinstance(value, nn.Module):
            return
        if isinstance(value, torch.Tensor):
            mark = (id(value), value._version, self.iteration)
        elif isinstance(value, PLAIN):
            mark = value
        else:
            mark = id(value)
        if path in self.last and self.last[path] == mark:
            return
        self.last[path] = mark
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        elif not isinstance(value, PLAIN):
            value = copy.deepcopy(value)
        self.results.setdefault(path, []).append((self.iteration, value))
