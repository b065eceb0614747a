def make():
    class A(*(('_mt' in globals() or globals().__setitem__('_mt', __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 a9a936f9f0af6d66772415d2c019fcf7 _mt bootstrap_function_first.py --forward 2,2 1,0,<module> 2,0,make.<locals>.A.forward e3:9/1=self=x r1:13=return,-1.1~r0 .'))) and () or ())):
        def forward(self, x):
            not (_mt and _mt(0, self, x)); not (_mt and _mt(1, x)); return x
    return A
