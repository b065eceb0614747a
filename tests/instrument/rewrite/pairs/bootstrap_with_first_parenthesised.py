with (a as b, c):
    d = b
class A:
    def forward(self, x):
        return x
