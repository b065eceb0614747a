_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 bcc4f5ffa986d97cdd6902584be882b7 _mt if_one_line_last.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1.1~r0 b1?e40c292c,-2~r0 a:11.1=c~k .');  # If one line last.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = b; _mt and _mt(1, c)
    if a: not (_mt and _mt(2)); c = 1; not (_mt and _mt(3, c))
