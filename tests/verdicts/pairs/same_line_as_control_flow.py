"""A statement that passes another number of names is the same statement."""

GOOD = '''
import torch


class Config:
    std = 0.02


def init(w, config):
    torch.nn.init.normal_(w, std=config.std)


w = torch.zeros(4, 4)
torch.manual_seed(0)
init(w, Config())
y = w * 2
'''

BAD = '''
import torch


class Config:
    std = 0.02


def init(w, config):
    torch.nn.init.normal_(w, std=2 * config.std)  # HERE


w = torch.zeros(4, 4)
torch.manual_seed(0)
init(w, Config())
y = w * 2
'''
