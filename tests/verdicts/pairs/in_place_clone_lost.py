"""Without the clone() the function writes into the caller's tensor."""

GOOD = '''
import torch


def put(embeds, images, where):
    embeds = embeds.clone()
    embeds[where == 1] = images
    return embeds.sum()


def read(embeds):
    return embeds * 2


embeds = torch.zeros(1, 4, 2)
first = put(embeds, torch.ones(2, 2), torch.tensor([[0, 1, 1, 0]]))
second = read(embeds)
'''

BAD = '''
import torch


def put(embeds, images, where):
    embeds[where == 1] = images  # HERE
    return embeds.sum()


def read(embeds):
    return embeds * 2


embeds = torch.zeros(1, 4, 2)
first = put(embeds, torch.ones(2, 2), torch.tensor([[0, 1, 1, 0]]))
second = read(embeds)
'''
