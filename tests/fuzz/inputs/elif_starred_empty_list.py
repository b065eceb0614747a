if 1:
  a
elif b:((),*[])=y=z
