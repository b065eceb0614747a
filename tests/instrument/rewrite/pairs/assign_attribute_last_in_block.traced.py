_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 b3e0fb279f1f6444e285da60b61a52ff _mt assign_attribute_last_in_block.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=a.x,-1.1,-1~pr0k. .');  # Assign attribute last in block.
def f(a, b):
    not (_mt and _mt(0, a, b)); a.x = _mt_t = b + 1; not (_mt and _mt(1, _mt_t)); del _mt_t
