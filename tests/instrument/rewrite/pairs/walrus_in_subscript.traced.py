_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 2169f9aa23cc3c6fc8d037f9ebe611e2 _mt walrus_in_subscript.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:11=n,-1.1~r0 a:5=c,-2,-2.1~sr1r0 .');  # Walrus in subscript.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a[((n := b) is not _mt and _mt and _mt(1, n) or n)]; _mt and _mt(2, c)
    pass
