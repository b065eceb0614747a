"""What
it is.
"""; _mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 e59d5f7c329e1a2ab70835651afa3609 _mt bootstrap_after_docstring_multiline.py --forward 2,2 1,0,<module> 4,0,A.forward e5:5/1=self=x r1:9=return,-1.1~r0 .')  # so
class A:
    def forward(self, x):
        not (_mt and _mt(0, self, x)); not (_mt and _mt(1, x)); return x
