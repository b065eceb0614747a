with open('/dev/null') as f: x = f.name
