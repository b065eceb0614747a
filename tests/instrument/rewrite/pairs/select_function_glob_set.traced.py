# Select function glob set.
class Model(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 13f3fce42b1ea6822005f70234567738 _mt select_function_glob_set.py --function=%5bfM%5d*er 2,3 1,0,<module> 9,0,Model.other e10:5/1=self=x a1:9=z,-1.1~r0 r1=return,-1~r0 .')) and () or ()), Module):
    def __init__(self, n):
        self.n = n

    def forward(self, x):
        y = x * self.n
        return y

    def other(self, x):
        not (_mt and _mt(0, self, x)); z = x; _mt and _mt(1, z)
        not (_mt and _mt(2, z)); return z


def free(a):
    b = a
    return b
