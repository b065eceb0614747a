_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 2dc85dbb75e78d5ecdac4b4bc0df5dfc _mt while_pass_body.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1.1~r0 l1,-2,-1~ca;r0r1. r2=return,-2~r0 .');  # While pass body.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = b; _mt and _mt(1, c)
    while (a(c)) and not (_mt and _mt(2)):
        pass
    not (_mt and _mt(3, c)); return c
