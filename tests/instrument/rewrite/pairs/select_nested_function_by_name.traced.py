_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 632a7b1e5b9ebb0010efbc48458bf134 _mt select_nested_function_by_name.py --function=f.<locals>.g 2,3 1,0,<module> 3,0,f.<locals>.g e4:5/1=c a1:9=d,-1~r0 r1=return,-1~r0 .');  # Select nested function by name.
def f(a):
    b = a
    def g(c):
        not (_mt and _mt(0, c)); d = c; _mt and _mt(1, d)
        not (_mt and _mt(2, d)); return d
    return g
