# Module main guard.
def main():
    return 0

if __name__ == "__main__":
    code = main()
    exit(code)
