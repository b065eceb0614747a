_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 a17f0f94d1f38a30015bbe930360c27a _mt text_utf8_bom.py --forward 2,5 1,0,<module> 2,0,A.forward e3:5/1=self=x a1:9=y,-1.1~pr0k. b1?fc0c4ef4,-1~r0 r1:13=return,-2~r0 r1:9.1=1,-4.1,-3~pr0r1. .'); import torch
class A:
    def forward(self, x):
        not (_mt and _mt(0, self, x)); y = x + 1; _mt and _mt(1, y)
        if y:
            not (_mt and _mt(2)); not (_mt and _mt(3, y)); return y
        return (_mt_v := ( x + y)) is not _mt and _mt and _mt(4, _mt_v) or _mt_v
