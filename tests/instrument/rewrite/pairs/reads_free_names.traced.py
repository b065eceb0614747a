_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 a63763382279425d77a429e0da7b269d _mt reads_free_names.py --all 3,5 1,0,<module> 1,0,f 2,1,.<locals>.g e2:1/1=a=b a1:5=c,-1~r0 e1/2 r:14=return;c;b~pr0r1. r1:5/1=0,g~r0 .');  # Reads free names.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    def g(): not (_mt and _mt(2)); return (_mt_v := ( c + b)) is not _mt and _mt and _mt(3, _mt_v) or _mt_v
    not (_mt and _mt(4, g)); return g
