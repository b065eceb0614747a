# Select function.
class Model(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 408ace7f3d345a86b50a2c6dc1d7041f _mt select_function.py --function=free 2,3 1,0,<module> 14,0,free e15:1/1=a a1:5=b,-1~r0 r1=return,-1~r0 .')) and () or ()), Module):
    def __init__(self, n):
        self.n = n

    def forward(self, x):
        y = x * self.n
        return y

    def other(self, x):
        z = x
        return z


def free(a):
    not (_mt and _mt(0, a)); b = a; _mt and _mt(1, b)
    not (_mt and _mt(2, b)); return b
