_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 24f096ea255e54d712db6160f14f91fa _mt augmented_attribute_of_call.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=-.x,-1,-1.1~pax;ca;r0.r1. .');  # Augmented attribute of call.
def f(a, b):
    not (_mt and _mt(0, a, b)); a().x += b; _mt and _mt(1)
    pass
