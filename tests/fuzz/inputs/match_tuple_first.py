match 1, 2:
    case a, b: c = a
