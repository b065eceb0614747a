_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 b36d8718675c624e690f2d10b8d7316a _mt walrus_in_slice.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a1:12=n~k a:21=m,-2.1~r0 a:5=c,-3,-3.1~oukr1.her0. .');  # Walrus in slice.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a[(((n := 0) is not _mt and _mt and _mt(1, n) or n)):(((m := b) is not _mt and _mt and _mt(2, m) or m))]; _mt and _mt(3, c)
    pass
