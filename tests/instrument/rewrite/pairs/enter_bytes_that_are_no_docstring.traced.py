_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 ded634c3533ebc3dc7f6b906dae01a70 _mt enter_bytes_that_are_no_docstring.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r2:5=return,-1~r0 .');  # Enter bytes that are no docstring.
def f(a, b):
    b"no"
    not (_mt and _mt(0, a, b)); not (_mt and _mt(1, a)); return a
