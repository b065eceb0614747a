with ((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 07409702edc51cb832427ce69413dfb1 _mt bootstrap_with_first_parenthesised.py --forward 2,2 1,0,<module> 3,0,A.forward e4:5/1=self=x r1:9=return,-1.1~r0 .')) and () or (a) as b, c):
    d = b
class A:
    def forward(self, x):
        not (_mt and _mt(0, self, x)); not (_mt and _mt(1, x)); return x
