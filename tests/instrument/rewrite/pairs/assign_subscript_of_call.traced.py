_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 0ca3fc99cb9f54fd7eb6e2297e286ae3 _mt assign_subscript_of_call.py --all 2,1 1,0,<module> 1,0,f e2:1/1=a=b .');  # Assign subscript of call.
def f(a, b):
    not (_mt and _mt(0, a, b)); a()[0] = b
    pass
