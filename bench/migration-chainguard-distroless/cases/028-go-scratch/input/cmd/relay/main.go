package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
)

func main() {
	check := flag.Bool("health", false, "ask the running service")
	flag.Parse()
	if *check {
		if answer, err := http.Get("http://127.0.0.1:8080/healthz"); err != nil || answer.StatusCode != 200 {
			os.Exit(1)
		}
		return
	}
	http.HandleFunc("/", func(out http.ResponseWriter, _ *http.Request) { fmt.Fprintln(out, "ok") })
	fmt.Println(http.ListenAndServe(":8080", nil))
}
