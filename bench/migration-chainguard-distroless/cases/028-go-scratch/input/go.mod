module example.org/relay

go 1.23
