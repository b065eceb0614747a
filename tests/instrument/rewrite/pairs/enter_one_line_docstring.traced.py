_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 cfff8899b95c06797c391e5deed9ed4d _mt enter_one_line_docstring.py --all 2,1 1,0,<module> 1,0,f e2:1/1=a .');  # Enter one line docstring.
def f(a): "What f does."; not (_mt and _mt(0, a))
