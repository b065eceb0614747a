# A model.
class A(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 65af7f432b961672922a3e36a76c299e _mt bootstrap_on_comment_line.py --forward 2,2 1,0,<module> 2,0,A.forward e3:5/1=self=x r1:9=return,-1.1~r0 .')) and () or ())):
    def forward(self, x):
        not (_mt and _mt(0, self, x)); not (_mt and _mt(1, x)); return x
