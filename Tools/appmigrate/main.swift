print("appmigrate")
