"""Magics of IPython, and how notebooks show a picture."""
