# nothing

# here
