_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 6ba1982b31bceafde7f9c08cb78fae5c _mt return_tuple_star.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=return,-1,-1.1~lxr0r1. .');  # Return tuple star.
def f(a, b):
    not (_mt and _mt(0, a, b)); return (_mt_v := ( *a, b)) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
