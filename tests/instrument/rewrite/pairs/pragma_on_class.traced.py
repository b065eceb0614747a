class A(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 4d83d2e4201d401edf2f4066faebcea9 _mt pragma_on_class.py --forward 3,5 1,0,<module> 2,0,A.f 4,2,g e3:5/1=self=a a1:9=b,-1.1~r0 r1=return,-1~r0 e2:5/2=0=a r1:9=1,-1.1~r0 .')) and () or ())):
    # monitorch: on
    def f(self, a):
        not (_mt and _mt(0, self, a)); b = a; _mt and _mt(1, b)
        not (_mt and _mt(2, b)); return b

    def g(self, a):
        not (_mt and _mt(3, self, a)); not (_mt and _mt(4, a)); return a

def h(a):
    return a
