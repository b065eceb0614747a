# Jit script left alone.
_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 8753eb8b81dc9259838a24b95796bdc4 _mt jit_script_left_alone.py --all 2,3 1,0,<module> 8,0,g e9:1/1=a a1:5=b,-1~r0 r1=return,-1~r0 .'); import torch

@torch.jit.script
def f(a):
    b = a
    return b

def g(a):
    not (_mt and _mt(0, a)); b = a; _mt and _mt(1, b)
    not (_mt and _mt(2, b)); return b
