for a in 1, 2:
    b = a
class A:
    def forward(self, x):
        return x
