_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 2f4374ec2b6f6498b3a772aa690bf8de _mt string_with_code_in_it.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c~k a1=d~k r1=return,-2,-1~pr0r1. .');  # String with code in it.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = 'return a; b = c'; _mt and _mt(1, c)
    d = "if a: # monitorch: on"; _mt and _mt(2, d)
    return (_mt_v := ( c + d)) is not _mt and _mt and _mt(3, _mt_v) or _mt_v
