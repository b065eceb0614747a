# Triton left alone.
import triton
import triton.language as tl

@triton.jit
def f(a):
    b = a
    return b

@triton.autotune(configs=[], key=[])
@triton.jit
def g(a):
    b = a
    return b
