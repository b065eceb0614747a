def f(a):
    # monitorch: on
    not (_mt and _mt(0, a)); b = a; _mt and _mt(1, b)
    not (_mt and _mt(2, b)); return b
_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 e60efcb61e0fc7b40e58cdddaab0807a _mt pragma_on_function.py --forward 2,3 1,0,<module> 0,0,f e1:1/1=a a2:5=b,-1~r0 r1=return,-1~r0 .');
def g(a):
    b = a
    return b
