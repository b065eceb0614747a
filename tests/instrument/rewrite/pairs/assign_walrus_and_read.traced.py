_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 1bb412b06112c80824ab53d1acd705a9 _mt assign_walrus_and_read.py --all 2,5 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 a1:14.1=c,-2.1~r0 a:5=d,c,-3.1~pr0r1. r1=return,-1~r0 .');  # Assign walrus and read.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    d = c + (((c := b) is not _mt and _mt and _mt(2, c) or c)); _mt and _mt(3, d)
    not (_mt and _mt(4, d)); return d
