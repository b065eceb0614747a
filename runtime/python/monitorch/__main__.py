"""python -m monitorch: runs programs that are recorded, and hands on to the command monitorch."""

from monitorch._run import command as _command

_command.main()  # nothing may follow: these names give way to the program's
