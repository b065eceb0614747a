with(*print,''):
  a = 1
