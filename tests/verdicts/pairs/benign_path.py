"""The program's own path, of a program that lies in two folders."""

GOOD = '''
import torch
_file = globals()["__file__"]
y = torch.ones(2) * 2
'''

BAD = '''
import torch
_file = globals()["__file__"]
y = torch.ones(2) * 2
'''
