_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 9fa1fd480eaf45f1592a6185ce80ee4e _mt assign_attributes_chain.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=a.x=a.y,-1.1,-1~pr0k. .');  # Assign attributes chain.
def f(a, b):
    not (_mt and _mt(0, a, b)); a.x = a.y = _mt_t = b + 1; not (_mt and _mt(1, _mt_t, _mt_t)); del _mt_t
    pass
