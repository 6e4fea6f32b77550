// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package standalone

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"weir.dev/embedded/cluster"
	"weir.dev/embedded/network"
	"weir.dev/embedded/standalone/claim"
	"weir.dev/embedded/standalone/stack"
	"weir.dev/internal/image"
)

const (
	clusterDomain = "cluster.local"
	nodeName      = "weir"
)

// Weir is an assembled system, all parts or some.
type Weir struct {
	cfg       Config
	stack     *stack.Stack
	listeners listeners
	addresses Addresses
	domain    string

	network *network.Network
	cluster *cluster.Cluster
	images  *image.Store
	applier *applier
}

// Run starts the parts in dependency order, prints how to use them, and blocks until ctx is done or a part fails. Then it
// stops everything in reverse; what it returns is the failure, if any.
func Run(ctx context.Context, cfg Config) (err error) {
	if err := cfg.complete(); err != nil {
		return err
	}
	release, err := claim.Take(cfg.DataDir)
	if err != nil {
		return err
	}
	closeLog, err := logKubernetes(cfg.DataDir)
	if err != nil {
		return errors.Join(err, release())
	}
	w := &Weir{cfg: cfg, stack: stack.New(cfg.Log)}
	defer func() { err = errors.Join(err, w.stack.Close(), closeLog(), release()) }()
	if err := w.start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // interrupted while starting: not a failure
		}
		return err
	}
	w.greet()
	err = w.stack.Wait(ctx)
	fmt.Fprintf(cfg.Out, "Stopping: requests in hand have %s. A second interrupt leaves everything as it is.\n", requestGrace)
	return err
}

// start is the order of things: each step may use what those before it made.
func (w *Weir) start(ctx context.Context) error {
	begin := time.Now()
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"network", w.startNetwork},
		{"Kubernetes API", w.startCluster},
		{"definitions", w.bootstrap},
		{"cluster network", w.serveNetwork},
		{"controller", w.startController},
		{"node", w.startNode},
		{"gateway", w.startGateway}, // stopped first: requests in hand need their instances
	} {
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Fprintf(w.cfg.Out, "%7.1f s  %s\n", time.Since(begin).Seconds(), step.name)
	}
	return nil
}

// startNetwork claims address ranges and makes the bridge: the parts need its address before they start.
func (w *Weir) startNetwork(context.Context) (err error) {
	w.network, err = network.New(network.Config{
		DataDir:       w.cfg.DataDir,
		ClusterDomain: clusterDomain,
		Log:           w.cfg.Log.With("part", PartNetwork),
	})
	if err != nil {
		return err
	}
	w.stack.OnStop("addresses", w.closeNetwork)
	if err := w.openListeners(w.network.BridgeIP()); err != nil {
		return err
	}
	w.stack.OnStop("listeners", func() error { w.listeners.close(); return nil })
	return nil
}

// closeNetwork leaves bridge and addresses to containers that go on running.
func (w *Weir) closeNetwork() error {
	if w.cfg.KeepContainers {
		return nil
	}
	return w.network.Close()
}

func (w *Weir) startCluster(ctx context.Context) (err error) {
	w.cluster, err = cluster.New(cluster.Config{
		DataDir:       w.cfg.DataDir,
		ServiceCIDR:   w.network.ServiceCIDR(),
		Advertise:     w.network.BridgeIP(),
		ClusterDomain: clusterDomain,
	})
	if err != nil {
		return err
	}
	w.stack.Run(PartCluster, w.cluster.Run)
	if err := w.stack.Until(ctx, "the Kubernetes API", w.cluster.Ready()); err != nil {
		return err
	}
	if w.images, err = image.Open(filepath.Join(w.cfg.DataDir, "images")); err != nil {
		return err
	}
	w.applier, err = newApplier(w.cluster.RESTConfig())
	return err
}

// greet prints what a person needs next. Its last line tells scripts that everything is up.
func (w *Weir) greet() {
	out := w.cfg.Out
	fmt.Fprintf(out, "\nURLs        http://<service>.<namespace>.%s%s\n", w.domain, urlPort(w.addresses.External.Port()))
	fmt.Fprintf(out, "kubeconfig  %s\n", w.cluster.Kubeconfig())
	fmt.Fprintf(out, "\nNext, in another terminal:\n")
	fmt.Fprintf(out, "  export KUBECONFIG=%s\n", w.cluster.Kubeconfig())
	fmt.Fprintf(out, "  weir image build examples/hello --tag hello%s\n", w.dataDirFlag())
	fmt.Fprintf(out, "  kubectl apply -f examples/hello/service.yaml && kubectl get ksvc\n\n")
	fmt.Fprintln(out, "Weir is ready. Ctrl-C stops it.")
}

func urlPort(port uint16) string {
	if port == 80 {
		return ""
	}
	return fmt.Sprintf(":%d", port)
}

func (w *Weir) dataDirFlag() string {
	if w.cfg.DataDir == "/var/lib/weir" {
		return ""
	}
	return " --data-dir " + w.cfg.DataDir
}
