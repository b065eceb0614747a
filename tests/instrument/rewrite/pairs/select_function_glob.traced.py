# Select function glob.
class Model(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 e788d9962ef69ab4ffc35e67e5bc2fba _mt select_function_glob.py --function=Model.* 4,8 1,0,<module> 2,0,Model.__init__ 3,6,forward 4,6,other e3:5/1=self=n a1:9=self.n,-1.1,-1~r0 e2:5/2=0=x a1:9=y,-1.1,1~pr0r1. r1=return,-1~r0 e2:5/3=0=x a1:9=z,-1.1~r0 r1=2,-1~r0 .')) and () or ()), Module):
    def __init__(self, n):
        not (_mt and _mt(0, self, n)); self.n = n; not (_mt and _mt(1, n))

    def forward(self, x):
        not (_mt and _mt(2, self, x)); y = x * self.n; _mt and _mt(3, y)
        not (_mt and _mt(4, y)); return y

    def other(self, x):
        not (_mt and _mt(5, self, x)); z = x; _mt and _mt(6, z)
        not (_mt and _mt(7, z)); return z


def free(a):
    b = a
    return b
