"""An argument of a constructor, which the first recorded line calls."""

GOOD = '''
import torch


class Bank:
    def __init__(self, size=2):
        self.slots = torch.zeros(size)


bank = Bank()
x = bank.slots.sum() + bank.slots.numel()
'''

BAD = '''
import torch


class Bank:
    def __init__(self, size=2):
        self.slots = torch.zeros(size)


bank = Bank(3)  # HERE
x = bank.slots.sum() + bank.slots.numel()
'''
