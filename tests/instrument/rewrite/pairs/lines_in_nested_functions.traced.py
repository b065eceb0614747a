_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 c3d50f60a65672a437a0db0cb9c01ac6 _mt lines_in_nested_functions.py --lines=4%20--lines=10%20--lines=13 5,7 1,0,<module> 1,0,outer 1,5,.<locals>.inner 5,15,Held.method 5,15,shown e2:1/1=a e1:5/2=b a1:9=c,-1~r0 e4/3=self=d a2:13=e,-1.1~r0 a3:21/1=h,-5~r0 e:5/4=f=g .');  # Lines in nested functions: the calls of those that hold them are told apart, and of no others.
def outer(a):
    def inner(b):
        not (_mt and _mt(1, b)); c = b; _mt and _mt(2, c)
        return c

    class Held(*((_mt and _mt(0, a)) or ())):
        def method(self, d):
            "A docstring."
            not (_mt and _mt(3, self, d)); e = d; _mt and _mt(4, e)
            return e

    def shown(f, g=(((h := a) is not _mt and _mt and _mt(5, h) or h))):
        not (_mt and _mt(6, f, g)); return f

    return inner, Held, shown
