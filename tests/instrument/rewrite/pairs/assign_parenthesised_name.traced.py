_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 b43b90322416af3a4814eca608c92366 _mt assign_parenthesised_name.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0@0.0 .');  # Assign parenthesised name.
def f(a, b):
    not (_mt and _mt(0, a, b)); (c) = a; _mt and _mt(1, c)
    pass
