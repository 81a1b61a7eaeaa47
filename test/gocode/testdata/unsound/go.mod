module example.org/unsound

go 1.26
