"""Texts with addresses, process ids and times are no difference."""

GOOD = '''
import os
import time
import torch


class Box:
    pass


box = Box()
text = f"{box!r} and more"
process = os.getpid()
now = time.time()
rank = int(os.environ.get("RANK", 0))
y = torch.ones(2) * 2
'''

BAD = GOOD
