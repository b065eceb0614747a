# -*- coding: latin-1 -*-
_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 50d855653fe1f5583cb355dc8eb9dd97 _mt text_latin1_cookie.py --forward 2,3 1,0,<module> 3,0,Ä.forward e4:5/1=self=ö a1:9=ü,-1.1~pkr0. r1=return,-1,-2.1~pr0r1. .'); import torch
class Ä:
    def forward(self, ö):
        not (_mt and _mt(0, self, ö)); ü = 'ß' + ö; _mt and _mt(1, ü)  # é
        return (_mt_v := ( ü + ö)) is not _mt and _mt and _mt(2, _mt_v) or _mt_v
