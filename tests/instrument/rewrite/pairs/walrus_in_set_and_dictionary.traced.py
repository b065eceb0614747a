_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 37d0ec3b1115e53bc0acf643246a349c _mt walrus_in_set_and_dictionary.py --all 2,5 1,0,<module> 1,0,f e2:1/1=a=b a1:10=n,-1~r0 a:5=c,-2,-2.1~lr0r1. a1:14=m,-3~r0 a:5=d,-4~d?r0. .');  # Walrus in set and dictionary.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = {((n := a) is not _mt and _mt and _mt(1, n) or n), b}; _mt and _mt(2, c)
    d = {1: (((m := a) is not _mt and _mt and _mt(3, m) or m))}; _mt and _mt(4, d)
    pass
