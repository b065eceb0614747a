"""B overwrites a value that a list holds, where A makes a new one."""

GOOD = '''
import torch


def run(xs):
    h = torch.zeros(3)
    outs = []
    for x in xs:
        h = torch.tanh(x + h)
        outs.append(h)
    return torch.stack(outs)


xs = torch.arange(12.0).view(4, 3) / 7
y = run(xs)
z = y * 2
'''

BAD = '''
import torch


def run(xs):
    h = torch.zeros(3)
    outs = []
    for x in xs:
        h.copy_(torch.tanh(x + h))  # HERE
        outs.append(h)
    return torch.stack(outs)


xs = torch.arange(12.0).view(4, 3) / 7
y = run(xs)
z = y * 2
'''
