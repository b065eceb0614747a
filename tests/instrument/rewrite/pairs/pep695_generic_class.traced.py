_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 84fddf47724b5c8833ea527b8a11a7de _mt pep695_generic_class.py --all 2,3 1,0,<module> 2,0,A.f e3:5/1=self=a a1:9=b,-1.1~r0 r1=return,-1~r0 .');  # Pep695 generic class.
class A[T](B):
    def f[U](self, a: U):
        not (_mt and _mt(0, self, a)); b = a; _mt and _mt(1, b)
        not (_mt and _mt(2, b)); return b
