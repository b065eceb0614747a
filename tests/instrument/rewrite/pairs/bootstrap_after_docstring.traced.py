"""What it is."""; _mt_t = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented
_mt = _mt_t(globals(), 'monitorch2 9be5a0a95c9373e95957358c0018ecfc _mt bootstrap_after_docstring.py --forward 2,2 1,0,<module> 3,0,A.forward e4:5/1=self=x r1:9=return,-1.1~r0 .'); _mt_t = None; import torch
class A:
    def forward(self, x):
        not (_mt and _mt(0, self, x)); not (_mt and _mt(1, x)); return x
