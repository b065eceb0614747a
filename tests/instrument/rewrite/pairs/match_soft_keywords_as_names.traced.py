_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 62ee2e9d423296cb6cefcf3b2da92e66 _mt match_soft_keywords_as_names.py --all 2,6 1,0,<module> 1,0,f e2:1/1=a=b a1:5=match,-1~r0 a1=case,-1~r0 a1=type,-1~r0 a1=match.x,-1,-3~r0 r1=return,-4,-3~n1r0 .');  # Match soft keywords as names.
def f(a, b):
    not (_mt and _mt(0, a, b)); match = a; _mt and _mt(1, match)
    case = match; _mt and _mt(2, case)
    type = case; _mt and _mt(3, type)
    match.x = type; _mt and _mt(4, type)
    return (_mt_v := ( match[case])) is not _mt and _mt and _mt(5, _mt_v) or _mt_v
