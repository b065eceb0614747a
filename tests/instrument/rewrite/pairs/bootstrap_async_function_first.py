async def g(a=1):
    return a
class A:
    def forward(self, x):
        return x
