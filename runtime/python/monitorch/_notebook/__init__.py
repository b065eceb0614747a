"""Magics of IPython, and the display of pictures and pages in notebooks."""
