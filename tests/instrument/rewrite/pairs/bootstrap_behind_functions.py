def double(x):
    y = 2 * x
    return y
print(double(1))
total = double(2)
print(total)
