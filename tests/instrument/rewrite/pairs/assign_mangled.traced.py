# Assign mangled.
class A(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 522f04e9d02a3e2590dca22a7cdefc52 _mt assign_mangled.py --all 2,4 1,0,<module> 2,0,A.f e3:5/1=self=__a a1:9=__b,-1.1~pr0k. a1=self.__c,-1,-2~pr0k. r1=return,3~r0 .')) and () or ())):
    def f(self, __a):
        not (_mt and _mt(0, self, __a)); __b = __a + 1; _mt and _mt(1, __b)
        self.__c = _mt_t = __b * 2; not (_mt and _mt(2, _mt_t)); del _mt_t
        return (_mt_v := ( self.__c)) is not _mt and _mt and _mt(3, _mt_v) or _mt_v
