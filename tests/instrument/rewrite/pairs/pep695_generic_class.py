# Pep695 generic class.
class A[T](B):
    def f[U](self, a: U):
        b = a
        return b
