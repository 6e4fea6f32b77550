// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	imagev1 "github.com/google/go-containerregistry/pkg/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/record"

	"weir.dev/embedded/node/engine"
	"weir.dev/embedded/node/monitor"
	"weir.dev/embedded/node/pull"
	noderecord "weir.dev/embedded/node/record"
	"weir.dev/embedded/node/sandbox"
	"weir.dev/internal/image"
)

// behaviour is what a fake container does.
type behaviour struct {
	// runs is how long a run lasts, code how it ends; 0 runs until signalled.
	runs time.Duration
	code int
	// stubborn ignores SIGTERM; others take ending to end.
	stubborn bool
	ending   time.Duration
	// createErr makes the runtime refuse it.
	createErr error
}

// fake is an engine, image store, source of objects and keeper of records, all
// without a machine. It writes down what happens.
type fake struct {
	t     *testing.T
	dir   string
	begin time.Time

	mu        sync.Mutex
	behaves   map[string]behaviour
	log       []string
	live      map[engine.Container]chan monitor.Exit
	runs      map[engine.Container]behaviour
	pullErr   error
	present   bool
	configMap bool
	saved     noderecord.Record

	// published is closed when the pod's address has been.
	addressed sync.Once
	published chan struct{}
}

func newFake(t *testing.T) *fake {
	return &fake{t: t, dir: t.TempDir(), begin: time.Now(), behaves: map[string]behaviour{},
		live: map[engine.Container]chan monitor.Exit{}, runs: map[engine.Container]behaviour{}, published: make(chan struct{})}
}

func (f *fake) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, fmt.Sprintf("%v ", time.Since(f.begin))+fmt.Sprintf(format, args...))
}

func (f *fake) notes() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.log, "\n")
}

func (f *fake) OpenSandbox(_ context.Context, id string, _ *corev1.Pod, networked func(netip.Addr)) (*sandbox.Sandbox, error) {
	networked(netip.MustParseAddr("10.0.0.5"))
	// The address must be public before there is a container: in a bubble a
	// test that waits in vain fails.
	<-f.published
	return &sandbox.Sandbox{ID: id, Dir: f.dir}, nil
}

func (f *fake) ReleaseSandbox(context.Context, string) error {
	f.note("release")
	return nil
}

func (f *fake) CloseSandbox(context.Context, string) error { f.note("close"); return nil }
func (f *fake) Hostname(pod *corev1.Pod) string            { return pod.Name }
func (f *fake) SandboxDir(string) string                   { return f.dir }
func (f *fake) ScratchDir(engine.Container) string         { return f.dir }
func (f *fake) LogPath(engine.Container) string            { return f.dir + "/log" }
func (f *fake) TerminationMessage(engine.Container) string { return "last words" }
func (f *fake) RemoveLog(engine.Container) error           { return nil }
func (f *fake) Remove(context.Context, engine.Container) error {
	return nil
}

func (f *fake) Create(_ context.Context, req engine.Request) (engine.Container, error) {
	c := engine.Container{Sandbox: req.Sandbox.ID, Name: req.Container.Name, Attempt: req.Attempt}
	f.mu.Lock()
	b := f.behaves[c.Name]
	f.runs[c] = b
	f.live[c] = make(chan monitor.Exit, 1)
	f.mu.Unlock()
	if b.createErr != nil {
		f.note("refuse %s", c.Name)
		return c, fmt.Errorf("%w: %w", engine.ErrRuntime, b.createErr)
	}
	return c, nil
}

func (f *fake) Start(_ context.Context, c engine.Container) error {
	f.note("start %s %d", c.Name, c.Attempt)
	f.mu.Lock()
	b, exits := f.runs[c], f.live[c]
	f.mu.Unlock()
	if b.runs > 0 {
		time.AfterFunc(b.runs, func() { f.end(exits, b.code) })
	}
	return nil
}

func (f *fake) end(exits chan monitor.Exit, code int) {
	select {
	case exits <- monitor.Exit{Code: code, At: time.Now()}:
	default:
	}
}

func (f *fake) Wait(ctx context.Context, c engine.Container) (monitor.Exit, error) {
	f.mu.Lock()
	exits := f.live[c]
	f.mu.Unlock()
	if exits == nil {
		return monitor.Exit{}, monitor.ErrLost
	}
	select {
	case exit := <-exits:
		return exit, nil
	case <-ctx.Done():
		return monitor.Exit{}, ctx.Err()
	}
}

func (f *fake) Signal(_ context.Context, c engine.Container, signal syscall.Signal) error {
	f.note("signal %s %s", c.Name, signal)
	f.mu.Lock()
	b, exits := f.runs[c], f.live[c]
	f.mu.Unlock()
	switch {
	case signal == syscall.SIGKILL:
		f.end(exits, 137)
	case !b.stubborn:
		time.AfterFunc(b.ending, func() { f.end(exits, 0) })
	}
	return nil
}

func (f *fake) Exec(_ context.Context, c engine.Container, command []string, _ engine.Streams) error {
	f.note("exec %s %s", c.Name, command[0])
	if command[0] == "false" {
		return errors.New("exit code 1")
	}
	return nil
}

func (f *fake) Ensure(_ context.Context, req pull.Request) (pull.Ready, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pullErr != nil && !f.present {
		return pull.Ready{}, f.pullErr
	}
	config := imagev1.ConfigFile{Config: imagev1.Config{Entrypoint: []string{"/app"}}}
	return pull.Ready{Image: &image.Image{Ref: req.Ref, Digest: "sha256:0", Config: config}}, nil
}

func (f *fake) Present(string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.present
}

func (f *fake) Release(string) error { return nil }

func (f *fake) ConfigMap(_ context.Context, _, name string) (*corev1.ConfigMap, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.configMap {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, name)
	}
	return &corev1.ConfigMap{Data: map[string]string{"key": "value"}}, nil
}

func (f *fake) Secret(_ context.Context, _, name string) (*corev1.Secret, error) {
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name)
}

func (f *fake) Token(context.Context, string, string, authenticationv1.TokenRequestSpec) (authenticationv1.TokenRequestStatus, error) {
	return authenticationv1.TokenRequestStatus{}, nil
}

func (f *fake) Services() ([]*corev1.Service, error) { return nil, nil }

func (f *fake) Save(r noderecord.Record) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.Pod = r.Pod.DeepCopy()
	f.saved = r
	return nil
}

// config makes a Config around the fake; changes of the pod's status, in a few
// words, become notes.
func (f *fake) config() Config {
	return Config{
		Engine: f, Images: f, Objects: f, Records: f, Events: &record.FakeRecorder{},
		Node: Node{Name: "node", IP: netip.MustParseAddr("192.0.2.1")},
		Publish: func(_ context.Context, pod *corev1.Pod) error {
			f.note("status %s", summary(pod))
			if pod.Status.PodIP != "" {
				f.addressed.Do(func() { close(f.published) })
			}
			return nil
		},
	}
}

// summary is phase, readiness and container states, as in
// "Running/ready main=running".
func summary(pod *corev1.Pod) string {
	words := []string{string(pod.Status.Phase)}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			words[0] += "/ready"
		}
	}
	for _, c := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		state := "running"
		switch {
		case c.State.Waiting != nil:
			state = c.State.Waiting.Reason
		case c.State.Terminated != nil:
			state = fmt.Sprintf("%s(%d)", c.State.Terminated.Reason, c.State.Terminated.ExitCode)
		}
		words = append(words, c.Name+"="+state)
	}
	return strings.Join(words, " ")
}

func testPod(policy corev1.RestartPolicy, containers ...corev1.Container) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pod", UID: "uid"},
		Spec:       corev1.PodSpec{RestartPolicy: policy, Containers: containers},
	}
}
