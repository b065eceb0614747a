match 1, 2:
    case a, b: c = a
class A:
    def forward(self, x):
        return x
