module example.org/digest

go 1.26
