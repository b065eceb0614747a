_mt0x = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 386b07dd17c02c596734bea427eca0a2 _mt0x prefix_in_a_string.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a a1:5=b~k r1=return,-2,-1~pr0r1. .');  # Prefix in a string.
def f(a):
    not (_mt0x and _mt0x(0, a)); b = "_mt"; _mt0x and _mt0x(1, b)
    return (_mt0x_v := ( a + b)) is not _mt0x and _mt0x and _mt0x(2, _mt0x_v) or _mt0x_v
