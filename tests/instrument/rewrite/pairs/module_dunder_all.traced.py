_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 20ba5947f33f1fdf44c9075c64d93797 _mt module_dunder_all.py --all 2,2 1,0,<module> 2,0,f e3:1/1=a r:11=return,-1~r0 .');  # Module dunder all.
__all__ = ['f']
def f(a): not (_mt and _mt(0, a)); not (_mt and _mt(1, a)); return a
