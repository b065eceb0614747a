# Assign attribute constants.
class A(*((_mt0x := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 8ca92694ae3eafdd7670988296de74bb _mt0x assign_attribute_constants.py --all 2,11 1,0,<module> 2,0,A.f e3:5/1=self a1:9=self.a,-1~k a:24=self.b,-2~k a:37=self.c,-3~k a1:9=self.d,-4~k a1=self.e,-5~k a1=self.g,-6~k a1=self.h,-7~k a1=self.i=self.j,-8~k a1=self.k,-9~k a1=self.l,-10~k .')) and () or ())):
    def f(self):
        not (_mt0x and _mt0x(0, self)); self.a = 1e-6; not (_mt0x and _mt0x(1, 1e-6)); self.b = .5; not (_mt0x and _mt0x(2, .5)); self.c = 1E+3j; _mt0x and _mt0x(3, 1E+3j)
        self.d = "it's ); _mt("; _mt0x and _mt0x(4, "it's ); _mt(")
        self.e = b'a, b'; _mt0x and _mt0x(5, b'a, b')
        self.g = _mt0x_t = "a\tb"; not (_mt0x and _mt0x(6, _mt0x_t)); del _mt0x_t
        self.h: float = 5.; _mt0x and _mt0x(7, 5.)
        self.i = self.j = ...; _mt0x and _mt0x(8, ..., ...)
        self.k = 0x1F; _mt0x and _mt0x(9, 0x1F)
        self.l = None; not (_mt0x and _mt0x(10, None))
