# coding: shift_jis
_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 3c760b23fe9ebf3e66bc81e7fc453b56 _mt text_shift_jis_cookie.py --forward 2,3 1,0,<module> 3,0,A.forward e4:5/1=self=x a1:9=変数,-1.1~pkr0. r1=return,-1~r0 .'); import torch
class A:
    def forward(self, x):
        not (_mt and _mt(0, self, x)); 変数 = '表' + x; _mt and _mt(1, 変数)
        not (_mt and _mt(2, 変数)); return 変数
