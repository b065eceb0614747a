class A(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 c8be90d10946ade581e44323d1180b4c _mt text_trailing_spaces.py --forward 2,5 1,0,<module> 1,0,A.forward e2:5/1=self=x a1:9=y,-1.1~pr0k. b1?fc0c4ef4,-1~r0 r1:13=return,-2~r0 r1:9.1=1,-4.1,-3~pr0r1. .')) and () or ())):
    def forward(self, x):
        not (_mt and _mt(0, self, x)); y = x + 1; _mt and _mt(1, y)   
        if y:
            not (_mt and _mt(2)); not (_mt and _mt(3, y)); return y
        return (_mt_v := ( x + y)) is not _mt and _mt and _mt(4, _mt_v) or _mt_v
