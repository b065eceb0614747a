# Module for.
for i in (_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 ee571cdf88441ef49d8f5f249034b524 _mt module_for.py --all 1,2 1,0,<module> l2:1=i(range~euk. a1:5=x(-1~r0 .')) and () or (range(3)):
    not (_mt and _mt(0, i)); x = i; not (_mt and _mt(1, x))
