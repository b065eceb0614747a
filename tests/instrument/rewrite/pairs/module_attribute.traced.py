# Module attribute.
_mt_t = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented; import m
_mt = _mt_t(globals(), 'monitorch2 f8b3073971e8c1f67d0af87407133d5b _mt module_attribute.py --all 1,2 1,0,<module> a3:1=m.x(f(m~cf;k. a1=m.y(m~k .'); _mt_t = None; m.x = _mt_t = f(); not (_mt and _mt(0, _mt_t)); _mt_t = None
m.y = 1; not (_mt and _mt(1, 1))
