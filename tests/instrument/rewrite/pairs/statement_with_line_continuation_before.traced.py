_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 ae373fe88a23f3320597c13fbd5a2158 _mt statement_with_line_continuation_before.py --all 2,5 1,0,<module> 1,0,f e2:1/1=a=b b1:5?e40c292c,-1~r0 a1:9=c,-2.1~r0 a1:5=d,-1~r0 r2=return,-1~r0 .');  # Statement with line continuation before.
def f(a, b):
    if (_mt and _mt(0, a, b)) or (a): \
        not (_mt and _mt(1)); c = b; not (_mt and _mt(2, c))
    d = \
        c
    not (_mt and _mt(3, d)); not (_mt and _mt(4, d)); return d
