_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 f2c185cde170048ee260fde7d85f85d2 _mt return_without_space_minus.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=return,-1~r0 .');  # Return without space minus.
def f(a, b):
    not (_mt and _mt(0, a, b)); return (_mt_v := (-a)) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
