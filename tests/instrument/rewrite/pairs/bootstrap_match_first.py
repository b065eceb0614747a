match x:
    case 1: pass
class A:
    def forward(self, x):
        return x
