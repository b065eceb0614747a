_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 82cbe7842dc087cbcf90a4fe82110c63 _mt walrus_in_comprehension_first_iterable.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1.1,-1~gw0cb;r0r1. .');  # Walrus in comprehension first iterable.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = [x for x in b(a)]; _mt and _mt(1, c)
    pass
