# Assign attribute constants.
class A:
    def f(self):
        self.a = 1e-6; self.b = .5; self.c = 1E+3j
        self.d = "it's ); _mt("
        self.e = b'a, b'
        self.g = "a\tb"
        self.h: float = 5.
        self.i = self.j = ...
        self.k = 0x1F
        self.l = None
