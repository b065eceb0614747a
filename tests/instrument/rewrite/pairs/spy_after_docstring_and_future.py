# Spy after docstring and future.
'''The model.'''
from __future__ import annotations
import torch

class A:
    def f(self, x):
        q = x; k = q
        return k
