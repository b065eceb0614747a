#!/usr/bin/env python
# A model.
class A:
    def forward(self, x):
        return x
