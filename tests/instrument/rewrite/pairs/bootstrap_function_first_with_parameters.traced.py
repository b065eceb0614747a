def make(a, b=(_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 140706bde2fc98ca0b23bdad9ee1d65a _mt bootstrap_function_first_with_parameters.py --forward 2,2 1,0,<module> 2,0,make.<locals>.A.forward e3:9/1=self=x r1:13=return,-1.1~r0 .')) and () or (1)):
    class A:
        def forward(self, x):
            not (_mt and _mt(0, self, x)); not (_mt and _mt(1, x)); return x
    return A
