_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 efc4df2d80ca390943e9746bcc97c185 _mt function_nested.py --all 3,5 1,0,<module> 1,0,f 1,1,.<locals>.g e2:1/1=a e1:5/2=b a1:9=c;a,-1~pr0r1. r1=return,-1~r0 r1:5/1=0,g~r0 .');  # Function nested.
def f(a):
    def g(b):
        not (_mt and _mt(1, b)); c = a + b; _mt and _mt(2, c)
        not (_mt and _mt(3, c)); return c
    not (_mt and _mt(0, a)); not (_mt and _mt(4, g)); return g
