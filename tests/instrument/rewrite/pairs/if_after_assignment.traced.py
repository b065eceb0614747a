_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 977f7e00b8a3b18103e437a203fa3b8f _mt if_after_assignment.py --all 2,5 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 b1?e60c2c52,-1~r0 r1:9=return,-2~r0 r1:5.1=0,-4.1~r0 .');  # If after assignment.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    if c:
        not (_mt and _mt(2)); not (_mt and _mt(3, c)); return c
    not (_mt and _mt(4, b)); return b
