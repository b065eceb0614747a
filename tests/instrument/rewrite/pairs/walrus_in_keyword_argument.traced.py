_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 f0cf839a800f2c1f2c9334b04c3463ce _mt walrus_in_keyword_argument.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:19=n,-1.1~r0 m:5=a(print,-2,-2.1~ur1r2. .');  # Walrus in keyword argument.
def f(a, b):
    not (_mt and _mt(0, a, b)); print(a, sep=(((n := b) is not _mt and _mt and _mt(1, n) or n))); _mt and _mt(2, a)
    pass
