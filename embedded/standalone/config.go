// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package standalone

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Parts of a standalone Weir. Each needs those before it, here or elsewhere.
const (
	PartNetwork    = "network"
	PartCluster    = "cluster"
	PartNode       = "node"
	PartController = "controller"
	PartGateway    = "gateway"
)

// AllParts is the order of start.
func AllParts() []string {
	return []string{PartNetwork, PartCluster, PartController, PartNode, PartGateway}
}

// Config is what a person may choose of a standalone Weir.
type Config struct {
	// DataDir keeps everything that lasts; all names in the kernel derive from it. Required.
	DataDir string
	// Listen is host:port of the HTTP listener for requests. "" is 127.0.0.1:80, or 127.0.0.1:8080 where 80 is taken, or
	// any free port where both are.
	Listen string
	// Domain is the suffix of URLs: name.namespace.Domain. "" leaves what the cluster has, at first "localhost".
	Domain string
	// Parts to start; empty starts all.
	Parts []string
	// KeepContainers leaves containers running when Run returns, for the next start to adopt.
	KeepContainers bool
	// Out gets what a person wants to read: progress, addresses, next commands. nil discards.
	Out io.Writer
	// Log gets the rest. nil discards.
	Log *slog.Logger
}

func (c *Config) complete() error {
	if err := mustBeRoot(); err != nil {
		return err
	}
	if c.DataDir == "" {
		return errors.New("no data directory given")
	}
	var err error
	if c.DataDir, err = filepath.Abs(c.DataDir); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if len(c.Parts) == 0 {
		c.Parts = AllParts()
	}
	if problems := validation.IsDNS1123Subdomain(c.Domain); c.Domain != "" && len(problems) > 0 {
		return fmt.Errorf("domain %q: %s", c.Domain, strings.Join(problems, "; "))
	}
	for _, p := range c.Parts {
		if !slices.Contains(AllParts(), p) {
			return fmt.Errorf("unknown part %q: choose from %s", p, strings.Join(AllParts(), ", "))
		}
	}
	if c.Out == nil {
		c.Out = io.Discard
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

// mustBeRoot is asked before anything is written.
func mustBeRoot() error {
	if os.Geteuid() != 0 {
		return errors.New("must run as root: it makes namespaces, mounts and network interfaces")
	}
	return nil
}

func (c *Config) has(part string) bool { return slices.Contains(c.Parts, part) }

// listen opens the external listener.
func (c *Config) listen() (net.Listener, error) {
	if c.Listen != "" {
		ln, err := net.Listen("tcp", c.Listen)
		if err != nil {
			return nil, fmt.Errorf("listen for requests (--listen chooses where): %w", err)
		}
		return ln, nil
	}
	var errs error
	for _, port := range []string{"80", "8080", "0"} {
		ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
		if err == nil {
			return ln, nil
		}
		errs = errors.Join(errs, err)
	}
	return nil, fmt.Errorf("listen for requests: %w", errs)
}
