# Module last statement def.
_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 838b9f746dbe77b90a54796c5a5b0439 _mt module_last_statement_def.py --all 2,3 1,0,<module> 2,0,f a2:1=x~k e1/1 r:10=return(x~r0 .'); x = 1; _mt and _mt(0, x)
def f(): not (_mt and _mt(1)); not (_mt and _mt(2, x)); return x
