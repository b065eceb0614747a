# Triton left alone imported in try.
try:
    _mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 fd08833d7a0c0fa90fabf4ecd845671a _mt triton_left_alone_imported_in_try.py --all 1,4 1,0,<module> a4:5=has_triton~k b1:1?3eec86a2(ImportError~r0 a1:5.1=0~k b2:1?f0203b96(0~r0 .'); import triton
    has_triton = True; not (_mt and _mt(0, has_triton))
except ImportError:
    not (_mt and _mt(1)); has_triton = False; not (_mt and _mt(2, has_triton))

if has_triton:
    @triton.jit
    def f(a):
        b = a
        return b
