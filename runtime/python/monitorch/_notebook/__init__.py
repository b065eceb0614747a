"""Magics of IPython, and how notebooks show pictures and pages."""
