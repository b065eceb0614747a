from __future__ import annotations
import torch
class A:
    def forward(self, x):
        return x
