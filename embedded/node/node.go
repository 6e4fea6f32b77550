// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	vklog "github.com/virtual-kubelet/virtual-kubelet/log"
	vknode "github.com/virtual-kubelet/virtual-kubelet/node"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/embedded/node/engine"
	"weir.dev/embedded/node/monitor"
	"weir.dev/embedded/node/ociruntime"
	"weir.dev/embedded/node/pod"
	"weir.dev/embedded/node/pull"
	noderecord "weir.dev/embedded/node/record"
	"weir.dev/embedded/node/sandbox"
)

// Node is the node agent.
type Node struct {
	cfg     Config
	engine  *engine.Engine
	runtime *ociruntime.CLI
	puller  *pull.Puller
	records noderecord.Store

	pods     informers.SharedInformerFactory
	services informers.SharedInformerFactory
	events   record.EventBroadcaster
	provider *provider

	ready chan struct{}
}

// New prepares a node. It changes nothing on the machine yet.
func New(cfg Config) (*Node, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	dir := dirOf(cfg.DataDir)
	runtime, err := ociruntime.New(ociruntime.Config{Path: cfg.Runtime, Root: engine.RuntimeRoot(dir)})
	if err != nil {
		return nil, err
	}
	conmon, err := monitor.New(cfg.Monitor, runtime)
	if err != nil {
		return nil, err
	}
	// While nobody rotates, logs may grow some more before they are cut.
	const unattended = 5
	e, err := engine.New(engine.Config{
		Dir: dir, Runtime: runtime, Monitor: conmon, Network: cfg.Network, HostIP: cfg.NodeIP,
		ClusterDNS: sandbox.ClusterDNS{Server: cfg.ClusterDNS, Domain: cfg.ClusterDomain},
		PidsLimit:  cfg.PodPidsLimit, LogLimit: unattended * cfg.LogSize, Memory: memory(), Log: cfg.Log,
	})
	if err != nil {
		return nil, err
	}
	n := &Node{
		cfg: cfg, engine: e, runtime: runtime, puller: pull.New(cfg.Images, cfg.InsecureRegistry),
		records:  noderecord.Store{Dir: e.SandboxDir},
		services: informers.NewSharedInformerFactory(cfg.Client, 0),
		pods: informers.NewSharedInformerFactoryWithOptions(cfg.Client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", cfg.Name).String()
		})),
		events: record.NewBroadcaster(),
		ready:  make(chan struct{}),
	}
	n.provider = newProvider(n)
	return n, nil
}

// dirOf is the node's own folder of the data directory.
func dirOf(dataDir string) string { return filepath.Join(dataDir, "node") }

// Ready is closed once the node is registered and takes pods.
func (n *Node) Ready() <-chan struct{} { return n.ready }

// podConfig is what all pods of the node share.
func (n *Node) podConfig(recorder record.EventRecorder) pod.Config {
	return pod.Config{
		Engine: n.engine, Images: n.puller, Records: n.records, Events: recorder,
		Objects: objects{client: n.cfg.Client, services: n.services.Core().V1().Services().Lister()},
		Node:    pod.Node{Name: n.cfg.Name, IP: n.cfg.NodeIP, Allocatable: n.capacity()},
		Publish: n.provider.publish,
		Log:     n.cfg.Log,
	}
}

// Run runs the node until ctx ends, or until it cannot go on.
func (n *Node) Run(ctx context.Context) error {
	ctx = vklog.WithLogger(ctx, libraryLog{n.cfg.Log})
	// Pods outlive ctx: at its end they are stopped, or left.
	running, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	n.events.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: n.cfg.Client.CoreV1().Events("")})
	defer n.events.Shutdown()
	recorder := n.events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "weir-node", Host: n.cfg.Name})
	n.provider.start(running, n.podConfig(recorder))
	if err := n.recover(running); err != nil {
		return err
	}
	err := n.follow(ctx, recorder)
	if n.cfg.StopContainersOnExit {
		n.provider.stopAll(n.cfg.StopTimeout)
	}
	leave()
	n.provider.wait()
	return errors.Join(err, n.engine.Tidy())
}

// follow runs everything that follows the API until ctx ends.
func (n *Node) follow(ctx context.Context, recorder record.EventRecorder) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var parts sync.WaitGroup
	defer parts.Wait()
	defer n.pods.Shutdown()
	defer n.services.Shutdown()
	defer cancel()

	pods, err := n.podController(recorder)
	if err != nil {
		return err
	}
	node, err := n.nodeController(ctx)
	if err != nil {
		return err
	}
	n.services.Core().V1().Services().Informer()
	n.provider.watchReplacements()
	n.services.Start(ctx.Done())
	n.services.WaitForCacheSync(ctx.Done())
	n.pods.Start(ctx.Done())

	failures := make(chan error, 3)
	run := func(name string, f func(context.Context) error) {
		parts.Go(func() {
			if err := f(ctx); err != nil && ctx.Err() == nil {
				failures <- fmt.Errorf("%s: %w", name, err)
			}
		})
	}
	const workers = 8
	run("follow pods", func(ctx context.Context) error { return pods.Run(ctx, workers) })
	run("serve logs and commands", n.serve)
	parts.Go(func() { n.rotateLogs(ctx) })
	if err := await(ctx, pods.Ready(), failures); err != nil {
		return stopError(ctx, err)
	}
	n.provider.publishAll()
	run("register node", node.Run)
	if err := await(ctx, node.Ready(), failures); err != nil {
		return stopError(ctx, err)
	}
	if err := n.removeNotReadyTaint(ctx); err != nil {
		return stopError(ctx, err)
	}
	close(n.ready)
	return stopError(ctx, await(ctx, nil, failures))
}

// await waits for done, a failure or the end of ctx.
func await(ctx context.Context, done <-chan struct{}, failures <-chan error) error {
	select {
	case <-done:
		return nil
	case err := <-failures:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stopError leaves out that ctx ended: that is how Run is to end.
func stopError(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

func (n *Node) podController(recorder record.EventRecorder) (*vknode.PodController, error) {
	// The library asks for these two only to resolve variables, which we do.
	unused := informers.NewSharedInformerFactory(n.cfg.Client, 0).Core().V1()
	controller, err := vknode.NewPodController(vknode.PodControllerConfig{
		PodClient:                 n.provider.client,
		PodInformer:               n.pods.Core().V1().Pods(),
		ConfigMapInformer:         unused.ConfigMaps(),
		SecretInformer:            unused.Secrets(),
		ServiceInformer:           n.services.Core().V1().Services(),
		EventRecorder:             quiet{recorder},
		Provider:                  n.provider,
		SkipDownwardAPIResolution: true,

		SyncPodsFromKubernetesRateLimiter:       newEagerLimiter(),
		SyncPodsFromKubernetesShouldRetryFunc:   always,
		DeletePodsFromKubernetesRateLimiter:     newEagerLimiter(),
		DeletePodsFromKubernetesShouldRetryFunc: always,
	})
	if err != nil {
		return nil, fmt.Errorf("prepare pod controller: %w", err)
	}
	return controller, nil
}

// eagerLimiter lets the first attempt through at once and delays repetitions.
type eagerLimiter struct {
	workqueue.TypedRateLimiter[any]
}

func newEagerLimiter() eagerLimiter {
	const first, longest = 5 * time.Millisecond, 10 * time.Second
	return eagerLimiter{workqueue.NewTypedItemExponentialFailureRateLimiter[any](first, longest)}
}

// When implements workqueue.TypedRateLimiter.
func (l eagerLimiter) When(item any) time.Duration {
	delay := l.TypedRateLimiter.When(item)
	if l.NumRequeues(item) <= 1 {
		return 0
	}
	return delay
}

// always repeats what failed, for ever: giving up would forget a pod.
func always(context.Context, string, int, time.Time, error) (*time.Duration, error) { return nil, nil }
