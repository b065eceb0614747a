_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 6ed7173288b8ca826faf026d572c82a5 _mt walrus_in_return.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:13=n,-1~r0 r:5=return,-2,n~pr0r1. .');  # Walrus in return.
def f(a, b):
    not (_mt and _mt(0, a, b)); return (_mt_v := ( (((n := a) is not _mt and _mt and _mt(1, n) or n)) + n)) is not _mt and _mt and _mt(2, _mt_v) or _mt_v
