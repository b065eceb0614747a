class A(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 3f2ef730bce7f1a778ffd7d9500906d1 _mt bootstrap_class_first.py --forward 2,2 1,0,<module> 1,0,A.forward e2:5/1=self=x r1:9=return,-1.1~r0 .')) and () or ())):
    def forward(self, x):
        not (_mt and _mt(0, self, x)); not (_mt and _mt(1, x)); return x
