"""The command line of `python -m monitorch`, and the program that `run` records."""
