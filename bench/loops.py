"""The program that several benchmarks run: operations on 64x64 tensors, a name for each."""

TENSORS = """
import torch

def run(count):
    w = torch.eye(64)
    x = torch.linspace(-1, 1, 64 * 64).view(64, 64)
    for i in range(count):
        y = x @ w
        z = y + x
        z = torch.tanh(z)
        h = z * 0.5
        x = h + y
    return x
"""
