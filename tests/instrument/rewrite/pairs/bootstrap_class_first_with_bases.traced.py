class A(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 10404d487c858534e696283ccf952030 _mt bootstrap_class_first_with_bases.py --forward 2,2 1,0,<module> 1,0,A.forward e2:5/1=self=x r1:9=return,-1.1~r0 .')) and () or ()), B, metaclass=C):
    def forward(self, x):
        not (_mt and _mt(0, self, x)); not (_mt and _mt(1, x)); return x
