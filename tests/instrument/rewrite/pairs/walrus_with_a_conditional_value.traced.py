_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 78d3ac9845d2c49d4adb2e16162d91d9 _mt walrus_with_a_conditional_value.py --all 2,6 1,0,<module> 1,0,f e2:1/1=a=b a1:11=n,-1,-1.1~or1r0k. a1:8=m,-2,-2.1~or1r0k. b:5?f94380da,-3,-3.1~or1r0k. a2:13=k,-4,-4.1~or1r0k. r:5=return,-5,-5.1~or1r0k. .');  # Walrus with a conditional value.
def f(a, b):
    not (_mt and _mt(0, a, b)); print(((n := a if b else 0) is not _mt and _mt and _mt(1, n) or n))
    if ((m := a if b else 0) is not _mt and _mt and _mt(2, m) or m):
        not (_mt and _mt(3)); pass
    return (_mt_v := ( (((k := a if b else 0) is not _mt and _mt and _mt(4, k) or k)))) is not _mt and _mt and _mt(5, _mt_v) or _mt_v
