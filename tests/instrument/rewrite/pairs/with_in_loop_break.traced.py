_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 be588fb42c9230beb27561bf31e683d7 _mt with_in_loop_break.py --all 2,5 1,0,<module> 1,0,f e2:1/1*=a=b l1:5~k a1:9=c,-2~r0 b1:13?e60c2c52,-1~r0 r2:5=return,-4.1~r0 .');  # With in loop break.
def f(a, b):
    while (_mt and _mt(0, a, b)) or (True):
        with (_mt and _mt(1)) or (a) as c:
            if (_mt and _mt(2, c)) or (c): not (_mt and _mt(3)); break
            continue
    not (_mt and _mt(4, b)); return b
