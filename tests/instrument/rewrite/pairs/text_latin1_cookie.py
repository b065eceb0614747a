# -*- coding: latin-1 -*-
import torch
class Ä:
    def forward(self, ö):
        ü = 'ß' + ö  # é
        return ü + ö
