_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 e997beab4949ff2ea4efe16df36975a8 _mt walrus_in_yield.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a1:12=n,-1~r0 a1:16=m,-2.1~r0 a:5=c,-3.1~k .');  # Walrus in yield.
def f(a, b):
    not (_mt and _mt(0, a, b)); yield (((n := a) is not _mt and _mt and _mt(1, n) or n))
    c = yield (((m := b) is not _mt and _mt and _mt(2, m) or m)); _mt and _mt(3, c)
    pass
