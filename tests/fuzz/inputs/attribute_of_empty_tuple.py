().garbage[:]=[]
