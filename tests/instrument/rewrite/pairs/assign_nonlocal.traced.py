_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 61cef90e2c6f1d3ff9f0bddc73d0aca5 _mt assign_nonlocal.py --all 3,6 1,0,<module> 1,0,f 2,1,.<locals>.g e2:1/1=a a1:5=n,-1~r0 e1/2 a2:9=n;n~pr0k. r1=return;n~r0 r1:5/1=0,g~r0 .');  # Assign nonlocal.
def f(a):
    not (_mt and _mt(0, a)); n = a; _mt and _mt(1, n)
    def g():
        nonlocal n
        not (_mt and _mt(2)); n = n + 1; _mt and _mt(3, n)
        not (_mt and _mt(4, n)); return n
    not (_mt and _mt(5, g)); return g
