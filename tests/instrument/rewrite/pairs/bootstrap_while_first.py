while False:
    pass
class A:
    def forward(self, x):
        return x
