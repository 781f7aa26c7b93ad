print("starc")
