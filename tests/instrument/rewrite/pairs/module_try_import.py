# Module try import.
try:
    import torch
except ImportError as error:
    torch = None
x = torch
