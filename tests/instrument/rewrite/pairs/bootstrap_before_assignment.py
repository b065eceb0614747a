x = 1
class A:
    def forward(self, x):
        return x
