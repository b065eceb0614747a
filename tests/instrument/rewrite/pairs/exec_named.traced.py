_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 cd228b02059c3cf6219bd14d259594f8 _mt exec_named.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r2:5=-return(eval,-1.1~pceval;kk.r1. .');  # Exec named.
def f(a, b):
    not (_mt and _mt(0, a, b)); exec("c = a")
    not (_mt and _mt(1)); return eval("c") + b
