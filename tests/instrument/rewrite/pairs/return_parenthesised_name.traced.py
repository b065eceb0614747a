_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 18ba745fb6634d1a81692a33d6747f89 _mt return_parenthesised_name.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=return,-1~r0 .');  # Return parenthesised name.
def f(a, b):
    not (_mt and _mt(0, a, b)); return (_mt_v := ( (a))) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
