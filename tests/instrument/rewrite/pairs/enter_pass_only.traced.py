_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 da5e9e696b30d503f2149a0469ba77af _mt enter_pass_only.py --all 2,1 1,0,<module> 1,0,f e2:1/1=a=b .');  # Enter pass only.
def f(a, b):
    not (_mt and _mt(0, a, b)); pass
