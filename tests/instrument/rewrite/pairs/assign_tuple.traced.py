_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 3819a6c69a3a812529a8d6b6f8b4ed42 _mt assign_tuple.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c=d,-1.1,-1~lr0r1.@0.0@1.1 .');  # Assign tuple.
def f(a, b):
    not (_mt and _mt(0, a, b)); c, d = b, a; _mt and _mt(1, c, d)
    pass
