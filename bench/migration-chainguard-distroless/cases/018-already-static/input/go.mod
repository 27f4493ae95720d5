module example.org/agent

go 1.22
