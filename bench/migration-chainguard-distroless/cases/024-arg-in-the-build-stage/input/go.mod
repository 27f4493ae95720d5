module example.org/probe

go 1.22
