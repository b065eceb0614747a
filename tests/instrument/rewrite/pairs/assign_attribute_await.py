# Assign attribute await.
async def f(a, b):
    a.x = await b
    pass
