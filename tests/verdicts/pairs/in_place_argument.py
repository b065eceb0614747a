"""`boxes += 0.5` writes into the caller's tensor, `boxes = boxes + 0.5` does not."""

GOOD = '''
import torch


def embed(boxes):
    boxes = boxes + 0.5
    return boxes * 2


boxes = torch.tensor([[4.0, 6.0, 30.0, 40.0]])
for turn in range(2):
    out = embed(boxes)
'''

BAD = '''
import torch


def embed(boxes):
    boxes += 0.5  # HERE
    return boxes * 2


boxes = torch.tensor([[4.0, 6.0, 30.0, 40.0]])
for turn in range(2):
    out = embed(boxes)
'''
