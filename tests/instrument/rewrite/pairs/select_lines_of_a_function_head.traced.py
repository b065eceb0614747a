# Select lines of a function head.
class Model(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 36c1533af6a8af23c3a9b9ba5fae8c33 _mt select_lines_of_a_function_head.py --lines=10 2,1 1,0,<module> 9,0,Model.other e10:5/1=self=x .')) and () or ()), Module):
    def __init__(self, n):
        self.n = n

    def forward(self, x):
        y = x * self.n
        return y

    def other(self, x):
        not (_mt and _mt(0, self, x)); z = x
        return z


def free(a):
    b = a
    return b
