"""A docstring that has the letters dir in a word."""

GOOD = '''
import torch


def positions(n, past):
    """Embeddings are provided directly: sequential positions."""
    ids = torch.arange(n)
    return ids.unsqueeze(0) + past


def layer(n, past):
    p = positions(n, past)
    return p


out = layer(3, 6)
'''

BAD = '''
import torch


def positions(n, past):
    """Embeddings are provided directly: sequential positions."""
    ids = torch.arange(n)
    return ids.unsqueeze(0)  # HERE


def layer(n, past):
    p = positions(n, past)
    return p


out = layer(3, 6)
'''
