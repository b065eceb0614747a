_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 fbb2c2445aac8b5099ef0ef1f28c1694 _mt walrus_in_attribute_assignment.py --all 2,6 1,0,<module> 1,0,f e2:1/1=a=b a1:12=n,-1.1~r0 a:5=a.x,-2.1,-2~pr0k. a1:9.1=n~k a:20=m,-4.1~r0 m:5=a.y,-5.1,1~r0@0! .');  # Walrus in attribute assignment.
def f(a, b):
    not (_mt and _mt(0, a, b)); a.x = _mt_t = (((n := b) is not _mt and _mt and _mt(1, n) or n)) + 1; not (_mt and _mt(2, _mt_t)); del _mt_t
    (_mt_t := a.y)[((n := 0) is not _mt and _mt and _mt(3, n) or n)] = (((m := b) is not _mt and _mt and _mt(4, m) or m)); not (_mt and _mt(5, _mt_t)); del _mt_t
    pass
