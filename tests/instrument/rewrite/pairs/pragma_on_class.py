class A:
    # monitorch: on
    def f(self, a):
        b = a
        return b

    def g(self, a):
        return a

def h(a):
    return a
