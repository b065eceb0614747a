_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 10ed16acb7f51b1e99fa4cd5c9d3c74d _mt bootstrap_string_that_is_no_docstring.py --forward 2,2 1,0,<module> 2,0,A.forward e3:5/1=self=x r1:9=return,-1.1~r0 .'); f"no"
class A:
    def forward(self, x):
        not (_mt and _mt(0, self, x)); not (_mt and _mt(1, x)); return x
