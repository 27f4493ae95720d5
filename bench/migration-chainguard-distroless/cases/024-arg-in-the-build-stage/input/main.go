package main

import (
	"fmt"
	"net/http"
)

func main() {
	answer, err := http.Get("https://example.org/")
	fmt.Println(answer, err)
}
