_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 b0ff0100a49ac0f3e5565571638b8393 _mt return_tuple_trailing_comma.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=return,-1~lr0. .');  # Return tuple trailing comma.
def f(a, b):
    not (_mt and _mt(0, a, b)); return (_mt_v := ( a,)) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
