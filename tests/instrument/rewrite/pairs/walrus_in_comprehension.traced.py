_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 f9e780c84f14d31c5b991418e982a004 _mt walrus_in_comprehension.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~her0 .');  # Walrus in comprehension.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = [n := x for x in a if (m := x)]; _mt and _mt(1, c)
    pass
