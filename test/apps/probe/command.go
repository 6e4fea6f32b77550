// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// command does what the first argument says instead of serving; other arguments are of no meaning.
//
//	write FILE TEXT  as an init container does
//	get URL          fails unless the answer is 200, as the command of a probe does
func command(args []string) (done bool, err error) {
	if len(args) < 2 {
		return false, nil
	}
	switch {
	case args[0] == "write" && len(args) == 3:
		return true, os.WriteFile(args[1], []byte(args[2]), 0o644)
	case args[0] == "get":
		resp, err := http.Get(args[1])
		if err != nil {
			return true, err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return true, errors.New(resp.Status)
		}
		return true, nil
	}
	return false, nil
}

// crash ends the process with a code, and a message for the user where CRASH_MESSAGE has one.
func crash(code int) {
	if text := os.Getenv("CRASH_MESSAGE"); text != "" {
		if err := os.WriteFile("/dev/termination-log", []byte(text), 0o644); err != nil {
			log.Print(err)
		}
	}
	log.Printf("crashing with %d as asked", code)
	os.Exit(code)
}

// onTerm says when the process is asked to end, and ends it after ON_TERM from then. Without it the default holds.
func onTerm() {
	patience, err := time.ParseDuration(os.Getenv("ON_TERM"))
	if err != nil {
		return
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	go func() {
		<-asked
		fmt.Println("asked to end")
		time.Sleep(patience)
		fmt.Println("ends by itself")
		os.Exit(0)
	}()
}
