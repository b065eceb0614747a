_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 184261c3e5c6d1d38a5b795286f69d4d _mt return_without_space_string.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=return,-1~mjoin;kr0. .');  # Return without space string.
def f(a, b):
    not (_mt and _mt(0, a, b)); return (_mt_v := ("text".join(a))) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
