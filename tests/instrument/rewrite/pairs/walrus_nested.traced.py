_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 71c2283fff4540113150f4ae4412abbe _mt walrus_nested.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a1:10=n,-1~pr0k. a:16=m,-2~r0 a:5=c,-3~pr0k. .');  # Walrus nested.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = (((n := (((m := a) is not _mt and _mt and _mt(2, m) or m)) + 1) is not _mt and _mt and _mt(1, n) or n)); _mt and _mt(3, c)
    pass
