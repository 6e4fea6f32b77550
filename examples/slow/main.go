// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Command slow is a program that needs a while (START_DELAY, a Go duration) before it listens, as many real ones do.
package main

import (
	"cmp"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"
)

func main() {
	delay, err := time.ParseDuration(cmp.Or(os.Getenv("START_DELAY"), "2s"))
	if err != nil {
		log.Fatalf("START_DELAY: %v", err)
	}
	time.Sleep(delay)
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "It took me %v to get up.\n", delay)
	})
	log.Fatal(http.ListenAndServe(":"+cmp.Or(os.Getenv("PORT"), "8080"), nil))
}
