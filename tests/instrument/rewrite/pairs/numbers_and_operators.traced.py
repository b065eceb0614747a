_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 6cccfc91d5f370f726e8ffbf59d10851 _mt numbers_and_operators.py --all 2,6 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~or0kk. a1=d,-2,-2.1~ppr0r1.k. a1.1=c,-2,-1~pr0r1. a1.2=c,-1,-2~pr0r1. r1=return,-1,-3~pr0r1. .');  # Numbers and operators.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = 1if a else 2; _mt and _mt(1, c)
    d = a<<b>>1; _mt and _mt(2, d)
    c**=-d; _mt and _mt(3, c)
    c//=~d; _mt and _mt(4, c)
    return (_mt_v := ( c@d)) is not _mt and _mt and _mt(5, _mt_v) or _mt_v
