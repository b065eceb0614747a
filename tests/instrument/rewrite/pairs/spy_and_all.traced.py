_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 c795a49b4c6d4cc6e99cbb98c27324f4 _mt spy_and_all.py --all%20--spy=q 2,4 1,0,<module> 2,0,A.f e3:5/1=self=x a1:9=q,-1.1~r0 s=-q r1=return,-2~r0 .'); from monitorch.spy import spy_save;  # Spy and all.
class A:
    def f(self, x):
        not (_mt and _mt(0, self, x)); q = x; not (_mt and _mt(1, q)); spy_save("q", q, self)
        not (_mt and _mt(3, q)); return q
