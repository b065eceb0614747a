_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 e5534aef317920362146621044087d5b _mt function_with_only_a_function.py --all 2,2 1,0,<module> 2,0,f.<locals>.g e3:5/1 r:14=return~k .');  # Function with only a function.
def f(a):
    def g(): not (_mt and _mt(0)); not (_mt and _mt(1, 1)); return 1
