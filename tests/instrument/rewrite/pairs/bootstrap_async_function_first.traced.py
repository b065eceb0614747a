async def g(a=(_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 07ab83c624a97641bb3cc19ba581fccf _mt bootstrap_async_function_first.py --forward 2,2 1,0,<module> 3,0,A.forward e4:5/1=self=x r1:9=return,-1.1~r0 .')) and () or (1)):
    return a
class A:
    def forward(self, x):
        not (_mt and _mt(0, self, x)); not (_mt and _mt(1, x)); return x
