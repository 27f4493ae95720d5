module example.org/fetcher

go 1.22
