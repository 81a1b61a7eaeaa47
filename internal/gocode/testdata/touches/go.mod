module example.org/touches

go 1.26
