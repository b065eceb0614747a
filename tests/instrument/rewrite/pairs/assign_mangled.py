# Assign mangled.
class A:
    def f(self, __a):
        __b = __a + 1
        self.__c = __b * 2
        return self.__c
