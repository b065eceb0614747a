# Select function and forward.
class Model(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 89211134af625c87329771780754750a _mt select_function_and_forward.py --forward%20--function=free 3,6 1,0,<module> 5,0,Model.forward 9,0,free e6:5/1=self=x a1:9=y,-1.1,self.n~pr0r1. r1=return,-1~r0 e7:1/2=a a1:5=b,-1~r0 r1=2,-1~r0 .')) and () or ()), Module):
    def __init__(self, n):
        self.n = n

    def forward(self, x):
        not (_mt and _mt(0, self, x)); y = x * self.n; _mt and _mt(1, y)
        not (_mt and _mt(2, y)); return y

    def other(self, x):
        z = x
        return z


def free(a):
    not (_mt and _mt(3, a)); b = a; _mt and _mt(4, b)
    not (_mt and _mt(5, b)); return b
