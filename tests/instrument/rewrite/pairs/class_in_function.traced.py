_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 3021a317e791b323c6f004089881d9c4 _mt class_in_function.py --all 3,5 1,0,<module> 1,0,f 4,1,.<locals>.A.g e2:1/1=a a1:5=b,-1~r0 e3:9/2=self r1:13=return,self.c~r0 r1:5/1=1,A~r0 .');  # Class in function.
def f(a):
    not (_mt and _mt(0, a)); b = a; _mt and _mt(1, b)
    class A:
        c = b
        def g(self):
            not (_mt and _mt(2, self)); return (_mt_v := ( self.c)) is not _mt and _mt and _mt(3, _mt_v) or _mt_v
    not (_mt and _mt(4, A)); return A
