_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 a104855efbf81aa9b051cb8acad7503e _mt assign_name_last_in_block.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1,-1.1~pr0r1. .');  # Assign name last in block.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a + b; not (_mt and _mt(1, c))
