 *w in case if n1}   
  def é(a=(z := 1), *b):
      if x if type else y:
          raise r'\d' from '#'
def g(a=(z := 1), *b):
  "doc"
