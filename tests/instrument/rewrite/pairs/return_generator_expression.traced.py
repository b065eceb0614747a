_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 ed00506c0558910bc51e86a044d30460 _mt return_generator_expression.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=return,-1~gw0r0 .');  # Return generator expression.
def f(a, b):
    not (_mt and _mt(0, a, b)); return (_mt_v := ( (c for c in a))) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
