_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 850843290ece3bff32c5dc8e63a9b209 _mt function_nested_default_reads.py --all 3,5 1,0,<module> 1,0,f 2,1,.<locals>.g e2:1/1=a a1:5=b,-1~r0 e1/2=c r:17=return,-1~r0 r1:5/1=0,g~r0 .');  # Function nested default reads.
def f(a):
    not (_mt and _mt(0, a)); b = a; _mt and _mt(1, b)
    def g(c=b): not (_mt and _mt(2, c)); not (_mt and _mt(3, c)); return c
    not (_mt and _mt(4, g)); return g
