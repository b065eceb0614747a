# coding: shift_jis
import torch
class A:
    def forward(self, x):
        変数 = '表' + x
        return 変数
