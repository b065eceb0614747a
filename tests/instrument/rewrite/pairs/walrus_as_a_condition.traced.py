_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 11550e2b78b60805ae86a80dd82523fa _mt walrus_as_a_condition.py --all 2,5 1,0,<module> 1,0,f e2:1/1=a=b a1:15=n,-1.1~r0 a:5=c,-2,-2.1,n~or1r0r2. a1:10=m,-3~r0 a:5=d,-4,-4.1~or1r0k. .');  # Walrus as a condition.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a if (((n := b) is not _mt and _mt and _mt(1, n) or n)) else n; _mt and _mt(2, c)
    d = (((m := a) is not _mt and _mt and _mt(3, m) or m)) if b else 0; _mt and _mt(4, d)
    pass
