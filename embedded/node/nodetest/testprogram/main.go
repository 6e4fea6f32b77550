// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Command testprogram is the only program in the images of this part's tests.
// Its first argument says what it does.
package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "say what to do")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(what string, args []string) error {
	switch what {
	case "echo":
		fmt.Println(strings.Join(args, " "))
		return nil
	case "stderr":
		fmt.Fprintln(os.Stderr, strings.Join(args, " "))
		return nil
	case "exit":
		var code int
		_, _ = fmt.Sscan(args[0], &code)
		os.Exit(code)
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
		return nil
	case "id":
		groups, err := os.Getgroups()
		fmt.Println(os.Getuid(), os.Getgid(), groups)
		return err
	case "cat":
		return cat(args)
	case "stdin":
		n, err := io.Copy(os.Stdout, os.Stdin)
		fmt.Println("stdin ended after", n)
		return err
	case "write":
		return os.WriteFile(args[0], []byte(strings.Join(args[1:], " ")), 0o644)
	case "stat":
		return stat(args)
	case "wait":
		return wait()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ignoring SIGTERM")
		select {}
	case "sleep":
		duration, err := time.ParseDuration(args[0])
		time.Sleep(duration)
		return err
	case "fill":
		return fill()
	case "serve":
		return serve(args)
	}
	return errors.New("cannot do " + what)
}

func cat(paths []string) error {
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", data)
	}
	return nil
}

func stat(paths []string) error {
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		fmt.Println(path, info.Mode())
	}
	return nil
}

func wait() error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	fmt.Println("waiting")
	fmt.Println("got", <-signals)
	return nil
}

// fill takes memory until it is killed.
func fill() error {
	var blocks [][]byte
	for {
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = 1
		}
		blocks = append(blocks, block)
		if len(blocks) > 4096 {
			return errors.New("nobody stopped me")
		}
	}
}

// serve answers HTTP on args[0] until SIGTERM, or ends at once with a second
// argument. /healthy answers 200 while the
// file /tmp/sick does not exist.
func serve(args []string) error {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthy", func(w http.ResponseWriter, _ *http.Request) {
		if _, err := os.Stat("/tmp/sick"); err == nil {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("/log", func(_ http.ResponseWriter, r *http.Request) { fmt.Println("called", r.URL.RawQuery) })
	listener, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	fmt.Println("serving")
	go func() { _ = http.Serve(listener, mux) }()
	if len(args) > 1 {
		return nil
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	fmt.Println("got", <-signals)
	return nil
}
