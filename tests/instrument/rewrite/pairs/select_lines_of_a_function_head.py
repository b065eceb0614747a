# Select lines of a function head.
class Model(Module):
    def __init__(self, n):
        self.n = n

    def forward(self, x):
        y = x * self.n
        return y

    def other(self, x):
        z = x
        return z


def free(a):
    b = a
    return b
