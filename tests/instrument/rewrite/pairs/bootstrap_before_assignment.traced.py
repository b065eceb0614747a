_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 24686622f9ba122f29e7a4070b191e00 _mt bootstrap_before_assignment.py --forward 2,2 1,0,<module> 2,0,A.forward e3:5/1=self=x r1:9=return,-1.1~r0 .'); x = 1
class A:
    def forward(self, x):
        not (_mt and _mt(0, self, x)); not (_mt and _mt(1, x)); return x
