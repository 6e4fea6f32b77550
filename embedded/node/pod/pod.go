// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/netip"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"

	"weir.dev/embedded/node/engine"
	"weir.dev/embedded/node/env"
	"weir.dev/embedded/node/monitor"
	"weir.dev/embedded/node/pull"
	noderecord "weir.dev/embedded/node/record"
	"weir.dev/embedded/node/sandbox"
	"weir.dev/embedded/node/volume"
)

// Engine makes sandboxes and containers.
type Engine interface {
	OpenSandbox(ctx context.Context, id string, pod *corev1.Pod, networked func(netip.Addr)) (*sandbox.Sandbox, error)
	ReleaseSandbox(ctx context.Context, id string) error
	CloseSandbox(ctx context.Context, id string) error
	Hostname(pod *corev1.Pod) string
	Create(ctx context.Context, req engine.Request) (engine.Container, error)
	Start(ctx context.Context, c engine.Container) error
	Wait(ctx context.Context, c engine.Container) (monitor.Exit, error)
	Signal(ctx context.Context, c engine.Container, signal syscall.Signal) error
	Exec(ctx context.Context, c engine.Container, command []string, streams engine.Streams) error
	Remove(ctx context.Context, c engine.Container) error
	RemoveLog(c engine.Container) error
	TerminationMessage(c engine.Container) string
	LogPath(c engine.Container) string
	ScratchDir(c engine.Container) string
	SandboxDir(id string) string
}

// Images gets images ready.
type Images interface {
	Ensure(ctx context.Context, req pull.Request) (pull.Ready, error)
	// Present says whether an image could be used without asking a registry.
	Present(ref string) bool
	Release(owner string) error
}

// Objects reads the API objects that pods refer to.
type Objects interface {
	env.Source
	volume.Source
	// Services are all services that the node knows.
	Services() ([]*corev1.Service, error)
}

// Records keeps what must survive our process.
type Records interface {
	Save(r noderecord.Record) error
}

// Node is what pods may know about their node.
type Node struct {
	Name        string
	IP          netip.Addr
	Allocatable corev1.ResourceList
}

// Config is what all pods of a node share.
type Config struct {
	Engine  Engine
	Images  Images
	Objects Objects
	Records Records
	Events  record.EventRecorder
	Node    Node
	// Publish is called, one at a time for a pod, after changes of its status.
	// After an error it is called again.
	Publish func(ctx context.Context, pod *corev1.Pod) error
	Log     *slog.Logger
}

// Pod is one pod on this node.
type Pod struct {
	cfg     Config
	sandbox string
	volumes *volume.Set
	log     *slog.Logger
	// began is when this process took the pod up.
	began time.Time
	// stop is requested when the pod is to end.
	stop *ending

	mu         sync.Mutex
	pod        *corev1.Pod
	containers map[string]noderecord.Container
	// networked says that the sandbox has its network.
	networked bool
	// opened is the sandbox once it is complete.
	opened *sandbox.Sandbox
	// failure ends the pod whatever its containers do.
	failure, failureMessage string
	// members are the containers that run or will run again, by name.
	members map[string]*container

	changed chan struct{}
	// closing says that the sandbox, and the record in it, is being removed.
	closing, removed bool
	done             chan struct{}
}

// New prepares a pod in a new sandbox. Run makes it happen.
func New(cfg Config, sandboxID string, pod *corev1.Pod) *Pod {
	p := build(cfg, noderecord.Record{Sandbox: sandboxID, Pod: pod.DeepCopy()})
	p.reset()
	return p
}

// Adopt prepares a pod that an earlier process of ours was running.
func Adopt(cfg Config, r noderecord.Record) *Pod { return build(cfg, r) }

func build(cfg Config, r noderecord.Record) *Pod {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	dir := cfg.Engine.SandboxDir(r.Sandbox)
	place := volume.Place{Disk: dir + "/volumes", Memory: dir + "/mem"}
	p := &Pod{
		cfg:        cfg,
		sandbox:    r.Sandbox,
		began:      time.Now(),
		volumes:    volume.NewSet(cfg.Objects, place, cfg.Node.Allocatable),
		log:        cfg.Log.With("namespace", r.Pod.Namespace, "pod", r.Pod.Name, "sandbox", r.Sandbox),
		stop:       newEnding(),
		pod:        r.Pod,
		containers: r.Containers,
		members:    map[string]*container{},
		changed:    make(chan struct{}, 1),
		done:       make(chan struct{}),
	}
	if p.containers == nil {
		p.containers = map[string]noderecord.Container{}
	}
	return p
}

// Done is closed when Run has returned.
func (p *Pod) Done() <-chan struct{} { return p.done }

// Removed says, once Run has returned, that nothing of the pod is left here.
func (p *Pod) Removed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.removed
}

// Sandbox is the id of the pod's sandbox.
func (p *Pod) Sandbox() string { return p.sandbox }

// Snapshot is a copy of the pod with its current status.
func (p *Pod) Snapshot() *corev1.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pod.DeepCopy()
}

// Update takes the pod's API object as it is now. Containers whose image
// changed are started anew; the rest of a pod's containers cannot change.
func (p *Pod) Update(pod *corev1.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.pod
	p.pod = pod.DeepCopy()
	p.pod.Status = old.Status
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		before := findContainer(old, c.Name)
		if member := p.members[c.Name]; member != nil && before != nil && before.Image != c.Image {
			member.kill("Container " + c.Name + " definition changed, will be restarted")
		}
	}
}

// Stop makes the pod end: hooks and signals within the grace period, then
// force. A later call can only shorten what is left.
func (p *Pod) Stop(grace time.Duration) {
	p.stop.request(grace)
	p.touch()
}

// Republish has the status published although it did not change.
func (p *Pod) Republish() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// ErrNoContainer says that a pod has no such container, or not in that state.
var ErrNoContainer = errors.New("container is not there")

// Running is the current run of a container, for commands in it.
func (p *Pod) Running(name string) (engine.Container, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := findStatus(&p.pod.Status, name)
	if st == nil || st.State.Running == nil {
		return engine.Container{}, ErrNoContainer
	}
	return engine.Container{Sandbox: p.sandbox, Name: name, Attempt: p.containers[name].Attempt}, nil
}

// NewestRun is the newest run of a container, or the one before it, for its log.
// running is nil if the run has ended, else it is closed at its end.
func (p *Pod) NewestRun(name string, previous bool) (c engine.Container, running <-chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if findContainer(p.pod, name) == nil {
		return engine.Container{}, nil, ErrNoContainer
	}
	c = engine.Container{Sandbox: p.sandbox, Name: name, Attempt: p.containers[name].Attempt}
	if previous {
		c.Attempt--
		if c.Attempt < 0 {
			return engine.Container{}, nil, ErrNoContainer
		}
		return c, nil, nil
	}
	if member := p.members[name]; member != nil {
		return c, member.runEnded(), nil
	}
	return c, nil, nil
}

func (p *Pod) save() {
	if p.closing {
		return
	}
	record := noderecord.Record{Sandbox: p.sandbox, Pod: p.pod, Containers: maps.Clone(p.containers)}
	if err := p.cfg.Records.Save(record); err != nil {
		p.log.Error("cannot save pod, its containers will not be found again", "error", err)
	}
}

func findContainer(pod *corev1.Pod, name string) *corev1.Container {
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// NetNS is the path of the pod's network namespace; empty is the machine's.
func (p *Pod) NetNS() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opened == nil {
		return "", errors.New("pod has no network yet")
	}
	return p.opened.NetNS, nil
}
