module example.org/lookalikes_variable

go 1.26
