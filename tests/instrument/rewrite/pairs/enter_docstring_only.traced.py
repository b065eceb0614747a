_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 73cb1a16911f1c8859891b832f4ae6d2 _mt enter_docstring_only.py --all 2,1 1,0,<module> 1,0,f e2:1/1=a=b .');  # Enter docstring only.
def f(a, b):
    """What f does."""; not (_mt and _mt(0, a, b))
