try:
    import torch
except ImportError:
    torch = None
class A(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 b83fc99ea9170f4765bae42609542936 _mt bootstrap_try_first.py --forward 2,2 1,0,<module> 5,0,A.forward e6:5/1=self=x r1:9=return,-1.1~r0 .')) and () or ())):
    def forward(self, x):
        not (_mt and _mt(0, self, x)); not (_mt and _mt(1, x)); return x
