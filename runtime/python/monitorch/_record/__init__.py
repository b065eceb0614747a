"""Recording: how it begins and ends, what it is asked for, what it knows of the program."""
