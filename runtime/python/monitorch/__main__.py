"""python -m monitorch: runs programs that are recorded, and passes other commands to monitorch."""

from monitorch._run import command as _command

_command.main()  # must be last: the program replaces the names of this module
