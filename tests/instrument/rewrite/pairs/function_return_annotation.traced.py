_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 c3db482984ee5446d91a0258ad88ea49 _mt function_return_annotation.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a r1:5=return(str,-1~d?r1. .');  # Function return annotation.
def f(a: "int") -> dict[str, int]:
    not (_mt and _mt(0, a)); return (_mt_v := ( {str(a): a})) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
