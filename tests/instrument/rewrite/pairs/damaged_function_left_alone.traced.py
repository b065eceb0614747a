_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 ede3ed4a827b79a63fc7fc89fe2e9205 _mt damaged_function_left_alone.py --all 3,6 1,0,<module> 1,0,f 8,0,h e2:1/1=a a1:5=b,-1~r0 r1=return,-1~r0 e6:1/2=a a1:5=b,-1~r0 r1=0,-1~r0 .');  # Damaged function left alone.
def f(a):
    not (_mt and _mt(0, a)); b = a; _mt and _mt(1, b)
    not (_mt and _mt(2, b)); return b

def g(a):
    b = a ? 1 : 2
    return b

def h(a):
    not (_mt and _mt(3, a)); b = a; _mt and _mt(4, b)
    not (_mt and _mt(5, b)); return b
