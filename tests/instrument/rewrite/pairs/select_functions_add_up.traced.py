# Select functions add up.
class Model(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 444fb6ddf9c37f079202556c3792e437 _mt select_functions_add_up.py --function=free%20--function=Model.other 3,6 1,0,<module> 9,0,Model.other 5,0,free e10:5/1=self=x a1:9=z,-1.1~r0 r1=return,-1~r0 e3:1/2=a a1:5=b,-1~r0 r1=1,-1~r0 .')) and () or ()), Module):
    def __init__(self, n):
        self.n = n

    def forward(self, x):
        y = x * self.n
        return y

    def other(self, x):
        not (_mt and _mt(0, self, x)); z = x; _mt and _mt(1, z)
        not (_mt and _mt(2, z)); return z


def free(a):
    not (_mt and _mt(3, a)); b = a; _mt and _mt(4, b)
    not (_mt and _mt(5, b)); return b
