_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 a17d908d51cd450af3a7d085563f16f6 _mt assign_multiline_last_in_block.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a b1:5?e40c292c,-1~r0 a1:9=b(g,-2~cg;kr1. a3:5.1=b,-3~lr0. .');  # Assign multiline last in block.
def f(a):
    if (_mt and _mt(0, a)) or (a):
        not (_mt and _mt(1)); b = g(
            a,
        ); not (_mt and _mt(2, b))
    b = [
        a,
    ]; not (_mt and _mt(3, b))
