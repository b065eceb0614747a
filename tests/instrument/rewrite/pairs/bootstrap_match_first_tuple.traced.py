match (_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 4b9e20e4210f6a0bc85d2c74029cf913 _mt bootstrap_match_first_tuple.py --forward 2,2 1,0,<module> 3,0,A.forward e4:5/1=self=x r1:9=return,-1.1~r0 .')) and () or (1, 2):
    case a, b: c = a
class A:
    def forward(self, x):
        not (_mt and _mt(0, self, x)); not (_mt and _mt(1, x)); return x
