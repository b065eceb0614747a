@(_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 f0a7b7a9b03899dca4966ca24103fc43 _mt bootstrap_decorated_function_first.py --forward 2,2 1,0,<module> 4,0,A.forward e5:5/1=self=x r1:9=return,-1.1~r0 .')) and () or (cache)
def g():
    return 1
class A:
    def forward(self, x):
        not (_mt and _mt(0, self, x)); not (_mt and _mt(1, x)); return x
