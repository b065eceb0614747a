# Spy after docstring and future.
'''The model.'''
from __future__ import annotations; from monitorch.spy import spy_save
import torch

class A:
    def f(self, x):
        q = x; spy_save("q", q, self); k = q; spy_save("k", k, self)
        return k
