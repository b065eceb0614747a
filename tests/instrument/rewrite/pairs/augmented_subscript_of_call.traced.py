_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 4e292df52ecae5ef5fec6095318940e1 _mt augmented_subscript_of_call.py --all 2,1 1,0,<module> 1,0,f e2:1/1=a=b .');  # Augmented subscript of call.
def f(a, b):
    not (_mt and _mt(0, a, b)); a()[0] += b
    pass
