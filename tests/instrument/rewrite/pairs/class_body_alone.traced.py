# Class body alone.
class A(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 d371f6986e9d5dd19cc9b4ecc06f9710 _mt class_body_alone.py --all 2,3 1,0,<module> 10,0,A.f e11:5/1=self=a a1:9=b,-1.1~r0 r1=return,-1~r0 .')) and () or ()), B):
    x = 1
    y: int = x + 1
    z = w = [x]
    x += 1
    for i in range(3):
        z = i
    if x:
        v = (u := 2)
    def f(self, a):
        not (_mt and _mt(0, self, a)); b = a; _mt and _mt(1, b)
        not (_mt and _mt(2, b)); return b
