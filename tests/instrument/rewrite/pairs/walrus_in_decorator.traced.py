_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 4097a61f79d913ac4f90fa32078873ad _mt walrus_in_decorator.py --all 3,4 1,0,<module> 1,0,f 2,1,.<locals>.g e2:1/1=a=b a1:7=n,-1~r0 e1:5/2 r1/1=return,-2~r0 .');  # Walrus in decorator.
def f(a, b):
    @(_mt and _mt(0, a, b)) or ((((n := a) is not _mt and _mt and _mt(1, n) or n)))
    def g(): not (_mt and _mt(2)); pass
    not (_mt and _mt(3, n)); return n
