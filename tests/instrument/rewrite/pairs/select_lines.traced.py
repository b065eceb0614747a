# Select lines.
class Model(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 6b057fa595803e4c82bb2f39b7f0761f _mt select_lines.py --lines=8-12 3,5 1,0,<module> 5,0,Model.forward 4,6,other e6:5/1=self=x r2:9=return,y~r0 e2:5/2=0=x a1:9=z,-1.1~r0 r1=1,-1~r0 .')) and () or ()), Module):
    def __init__(self, n):
        self.n = n

    def forward(self, x):
        not (_mt and _mt(0, self, x)); y = x * self.n
        not (_mt and _mt(1, y)); return y

    def other(self, x):
        not (_mt and _mt(2, self, x)); z = x; _mt and _mt(3, z)
        not (_mt and _mt(4, z)); return z


def free(a):
    b = a
    return b
