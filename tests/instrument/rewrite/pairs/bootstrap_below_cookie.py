# -*- coding: utf-8 -*-
# A model.
class A:
    def forward(self, x):
        return x
