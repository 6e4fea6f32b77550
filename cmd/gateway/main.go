// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Command gateway is the data plane of Weir as a process of its own.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"weir.dev/internal/gateway"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stderr))
}

func run(ctx context.Context, args []string, stderr io.Writer) int {
	log := slog.New(slog.NewTextHandler(stderr, nil))
	host, _ := os.Hostname()
	f := flag.NewFlagSet("gateway", flag.ContinueOnError)
	f.SetOutput(stderr)
	id := f.String("id", host, "name of this gateway, unique among live ones")
	controllers := f.String("controllers", "127.0.0.1:8091", "addresses of the controllers' feeds, separated by commas")
	external := f.String("external", "127.0.0.1:8080", "listen here for public hosts")
	internal := f.String("internal", "127.0.0.1:8081", "listen here for all hosts")
	drain := f.String("drain", "127.0.0.1:8082", "listen here for preStop hooks and health checks")
	grace := f.Duration("grace", 30*time.Second, "time for requests in hand after a signal to stop")
	cert := f.String("tls-cert", "", "certificate towards the controllers")
	key := f.String("tls-key", "", "its key")
	ca := f.String("tls-ca", "", "authority of the controllers")
	if err := f.Parse(args); err != nil {
		return 2
	}
	t, err := gateway.MutualTLS(*cert, *key, *ca)
	conns, hangUp, err2 := gateway.Dial(strings.Split(*controllers, ","), t)
	l, err3 := gateway.Listen(*external, *internal, *drain)
	if err = errors.Join(err, err2, err3); err == nil {
		defer hangUp()
		err = gateway.Run(ctx, gateway.Config{
			ID: *id, Feeds: conns, External: l[:1], Internal: l[1:2], Drain: l[2], Grace: *grace, Log: log})
	}
	if err != nil {
		log.Error("The gateway ended", "error", err)
		return 1
	}
	return 0
}
