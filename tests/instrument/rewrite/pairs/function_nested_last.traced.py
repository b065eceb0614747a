_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 aa331a67f66401cf7fea48791803fd4d _mt function_nested_last.py --all 3,4 1,0,<module> 1,0,f 3,1,.<locals>.g e2:1/1=a a2:5=b,-1~r0 e1/2 r:14=return~k .');  # Function nested last.
def f(a):
    global g
    not (_mt and _mt(0, a)); b = a; _mt and _mt(1, b)
    def g(): not (_mt and _mt(2)); not (_mt and _mt(3, 1)); return 1
