# Triton left alone imported in try.
try:
    import triton
    has_triton = True
except ImportError:
    has_triton = False

if has_triton:
    @triton.jit
    def f(a):
        b = a
        return b
