# Lines in nested functions: the calls of those that hold them are told apart, and of no others.
def outer(a):
    def inner(b):
        c = b
        return c

    class Held:
        def method(self, d):
            "A docstring."
            e = d
            return e

    def shown(f, g=(h := a)):
        return f

    return inner, Held, shown
