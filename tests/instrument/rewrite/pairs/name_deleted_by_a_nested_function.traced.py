_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 408e0c8414e440d5b1edcfadd5d364a5 _mt name_deleted_by_a_nested_function.py --all 3,5 1,0,<module> 1,0,f 2,1,.<locals>.kill e2:1/1 a1:5=x~lk. e1/2=y a4/1.1=x~k r1=return,x~r0 .');  # Name deleted by a nested function.
def f():
    not (_mt and _mt(0)); x = [1]; _mt and _mt(1, x)
    def kill(y):
        nonlocal x
        not (_mt and _mt(2, y)); del x
    kill(x)
    x = 2; _mt and _mt(3, x)
    not (_mt and _mt(4, x)); return x
