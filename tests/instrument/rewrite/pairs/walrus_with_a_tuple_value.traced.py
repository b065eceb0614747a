_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 2ed839277807acd67ba050b90a654e57 _mt walrus_with_a_tuple_value.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a1:6=n,-1,-1.1~lr0r1. a1:10=m,-2~r0 a:5=c,-3,-3.1~lr0r1. .');  # Walrus with a tuple value.
def f(a, b):
    not (_mt and _mt(0, a, b)); (((n := (a, b)) is not _mt and _mt and _mt(1, n) or n))
    c = [((m := a) is not _mt and _mt and _mt(2, m) or m), b]; _mt and _mt(3, c)
    pass
