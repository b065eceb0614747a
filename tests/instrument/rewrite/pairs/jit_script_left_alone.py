# Jit script left alone.
import torch

@torch.jit.script
def f(a):
    b = a
    return b

def g(a):
    b = a
    return b
