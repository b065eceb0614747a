_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 7c49fda3022fbfdf5f3ac2c7b7b24046 _mt function_decorated_nested.py --all 3,5 1,0,<module> 1,0,f 3,1,.<locals>.g e2:1/1=a a1:5=b,-1~r0 e2/2=c r1:9=return,-1~r0 r1:5/1=0,g~r0 .');  # Function decorated nested.
def f(a):
    not (_mt and _mt(0, a)); b = a; _mt and _mt(1, b)
    @cache(b)
    def g(c):
        not (_mt and _mt(2, c)); not (_mt and _mt(3, c)); return c
    not (_mt and _mt(4, g)); return g
