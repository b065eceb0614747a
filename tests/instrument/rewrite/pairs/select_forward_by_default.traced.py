class Model(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 fe699c89fd2154b7236e58ad6f7fa909 _mt select_forward_by_default.py --forward 2,3 1,0,<module> 4,0,Model.forward e5:5/1=self=x a1:9=y,-1.1,self.n~pr0r1. r1=return,-1~r0 .')) and () or ()), Module):
    def __init__(self, n):
        self.n = n

    def forward(self, x):
        not (_mt and _mt(0, self, x)); y = x * self.n; _mt and _mt(1, y)
        not (_mt and _mt(2, y)); return y

    def other(self, x):
        z = x
        return z


def free(a):
    b = a
    return b
