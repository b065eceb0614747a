def make():
    class A:
        class B:
            async def forward(self, x):
                return x + 1
    return A

def forward(x):
    return x
