while (_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 55c96cfb8eeebee0a4aaa49621717be9 _mt bootstrap_while_first.py --forward 2,2 1,0,<module> 3,0,A.forward e4:5/1=self=x r1:9=return,-1.1~r0 .')) and () or (False):
    pass
class A:
    def forward(self, x):
        not (_mt and _mt(0, self, x)); not (_mt and _mt(1, x)); return x
