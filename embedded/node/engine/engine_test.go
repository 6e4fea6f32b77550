// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	imagev1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/embedded/node/engine"
	"weir.dev/embedded/node/monitor"
	"weir.dev/embedded/node/nodetest"
	"weir.dev/embedded/node/ociruntime"
	"weir.dev/embedded/node/sandbox"
)

func TestMain(m *testing.M) { os.Exit(nodetest.Main(m)) }

type fixture struct {
	*engine.Engine
	dir    string
	layers []string
}

func newFixture(t testing.TB) fixture {
	t.Helper()
	nodetest.NeedContainers(t)
	dir := t.TempDir()
	runtime, err := ociruntime.New(ociruntime.Config{Path: "runc", Root: engine.RuntimeRoot(dir)})
	if err != nil {
		t.Fatal(err)
	}
	conmon, err := monitor.New("conmon", runtime)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(engine.Config{
		Dir: dir, Runtime: runtime, Monitor: conmon, Network: nodetest.NewNetwork(t),
		ClusterDNS: sandbox.ClusterDNS{Server: netip.MustParseAddr("10.96.0.10"), Domain: "cluster.local"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Purge(context.Background(), dir); err != nil {
			t.Errorf("Purge: %v", err)
		}
	})
	return fixture{Engine: e, dir: dir, layers: []string{nodetest.Rootfs(t)}}
}

func testPod(container corev1.Container) *corev1.Pod {
	if container.Name == "" {
		container.Name = "main"
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pod"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{container}, DNSPolicy: corev1.DNSClusterFirst},
	}
}

// create opens a sandbox and creates the pod's only container in it.
func (f fixture) create(t testing.TB, id string, pod *corev1.Pod, args ...string) (engine.Container, netip.Addr) {
	t.Helper()
	var ip netip.Addr
	s, err := f.OpenSandbox(t.Context(), id, pod, func(a netip.Addr) { ip = a })
	if err != nil {
		t.Fatalf("OpenSandbox: %v", err)
	}
	c, err := f.Create(t.Context(), engine.Request{
		Sandbox: s, Pod: pod, Container: &pod.Spec.Containers[0], Layers: f.layers,
		Image: imagev1.Config{}, Env: []string{"PATH=/bin"}, Args: append([]string{nodetest.Program}, args...),
	})
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	return c, ip
}

// run starts the program and returns its log once it ended.
func (f fixture) run(t testing.TB, id string, pod *corev1.Pod, args ...string) (string, monitor.Exit) {
	t.Helper()
	c, _ := f.create(t, id, pod, args...)
	if err := f.Start(t.Context(), c); err != nil {
		t.Fatalf("Start: %v", err)
	}
	return f.wait(t, c)
}

func (f fixture) wait(t testing.TB, c engine.Container) (string, monitor.Exit) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	exit, err := f.Wait(ctx, c)
	if err != nil {
		t.Fatalf("Wait: %v", err)
	}
	log, err := os.ReadFile(f.LogPath(c))
	if err != nil {
		t.Fatalf("read log: %v", err)
	}
	return string(log), exit
}

func TestContainerRunsAndLeavesNothing(t *testing.T) {
	f := newFixture(t)
	log, exit := f.run(t, "s1", testPod(corev1.Container{}), "echo", "hello", "there")
	if exit.Code != 0 || !strings.Contains(log, "stdout F hello there\n") {
		t.Errorf("exit %+v, log %q", exit, log)
	}
	if err := f.Remove(t.Context(), engine.Container{Sandbox: "s1", Name: "main"}); err != nil {
		t.Errorf("Remove: %v", err)
	}
	for range 2 {
		if err := f.CloseSandbox(t.Context(), "s1"); err != nil {
			t.Errorf("CloseSandbox: %v", err)
		}
	}
	if ids, err := f.Sandboxes(); err != nil || len(ids) > 0 {
		t.Errorf("sandboxes left: %v, %v", ids, err)
	}
}

func TestRuntimeContract(t *testing.T) {
	f := newFixture(t)
	uid, gid := int64(1000), int64(1001)
	asApp := &corev1.SecurityContext{RunAsUser: &uid, RunAsGroup: &gid}
	limits := corev1.ResourceRequirements{Limits: corev1.ResourceList{
		corev1.ResourceMemory: resource.MustParse("64Mi"), corev1.ResourceCPU: resource.MustParse("500m"),
	}}
	cases := map[string]struct {
		reason    string
		container corev1.Container
		args      []string
		code      int
		log       []string
	}{
		"exit code": {"a failing program's code is kept", corev1.Container{}, []string{"exit", "7"}, 7, nil},
		"stdin": {"S11: stdin is at its end", corev1.Container{}, []string{"stdin"}, 0,
			[]string{"stdin ended after 0"}},
		"tmp": {"R14: /tmp is writable for any user", corev1.Container{SecurityContext: asApp},
			[]string{"write", "/tmp/file", "x"}, 0, nil},
		"user": {"R13: the user and its groups, also those of the image", corev1.Container{SecurityContext: asApp},
			[]string{"id"}, 0, []string{"1000 1001 [1001 2000]"}},
		"files": {"S17: DNS files are the cluster's", corev1.Container{},
			[]string{"cat", "/etc/hosts", "/etc/resolv.conf", "/etc/hostname"}, 0,
			[]string{"\tpod", "nameserver 10.96.0.10", "search default.svc.cluster.local", "options ndots:5"}},
		"devices": {"R15: the OCI default devices", corev1.Container{}, []string{"stat", "/dev/null", "/dev/zero", "/dev/full",
			"/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"}, 0,
			[]string{"/dev/null Dcrw-rw-rw-", "/dev/fd Lrwxrwxrwx"}},
		"no console": {"S17: there is no terminal", corev1.Container{}, []string{"stat", "/dev/console"}, 1, nil},
		"sysctl":     {"S20: /proc/sys is read-only", corev1.Container{}, []string{"write", "/proc/sys/kernel/domainname", "x"}, 1, nil},
		"cgroup": {"S18: cgroups are read-only", corev1.Container{},
			[]string{"write", "/sys/fs/cgroup/cgroup.procs", "1"}, 1, []string{"read-only file system"}},
		"oom": {"killed for memory", corev1.Container{Resources: limits}, []string{"fill"}, 137, nil},
		"unprivileged port": {"a user other than root may listen on port 80", corev1.Container{SecurityContext: asApp},
			[]string{"serve", "1.2.3.4:80"}, 1, []string{"cannot assign requested address"}},
	}
	number := 0
	for name, c := range cases {
		number++
		id := "c" + string(rune('a'+number))
		t.Run(name, func(t *testing.T) {
			log, exit := f.run(t, id, testPod(c.container), c.args...)
			if exit.Code != c.code {
				t.Errorf("%s: exit %+v, want code %d, log:\n%s", c.reason, exit, c.code, log)
			}
			for _, want := range c.log {
				if !strings.Contains(log, want) {
					t.Errorf("%s: no %q in log:\n%s", c.reason, want, log)
				}
			}
			if (name == "oom") != exit.OOMKilled {
				t.Errorf("%s: OOMKilled is %t", c.reason, exit.OOMKilled)
			}
		})
	}
}

func TestCreateSaysWhatIsWrong(t *testing.T) {
	f := newFixture(t)
	pod := testPod(corev1.Container{})
	s, err := f.OpenSandbox(t.Context(), "bad", pod, func(netip.Addr) {})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Create(t.Context(), engine.Request{
		Sandbox: s, Pod: pod, Container: &pod.Spec.Containers[0], Layers: f.layers, Args: []string{"/no/such/program"},
	})
	if err == nil || !strings.Contains(err.Error(), "/no/such/program") || strings.Contains(err.Error(), "level=error") {
		t.Errorf("error is %v", err)
	}
}

func TestExecAndSignal(t *testing.T) {
	f := newFixture(t)
	c, _ := f.create(t, "exec", testPod(corev1.Container{}), "wait")
	if err := f.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := f.Exec(t.Context(), c, []string{nodetest.Program, "stdin"}, engine.Streams{Stdin: strings.NewReader("input "), Stdout: &out})
	if err != nil || out.String() != "input stdin ended after 6\n" {
		t.Errorf("Exec: %v, %q", err, &out)
	}
	var exit *ociruntime.ExitError
	err = f.Exec(t.Context(), c, []string{nodetest.Program, "exit", "5"}, engine.Streams{})
	if !errors.As(err, &exit) || exit.Code != 5 {
		t.Errorf("Exec of a failing command: %v", err)
	}
	for command, code := range map[string]int{"nothing": 127, "/no/such/program": 127, "/etc": 126} {
		var stderr bytes.Buffer
		err = f.Exec(t.Context(), c, []string{command}, engine.Streams{Stderr: &stderr})
		if !errors.As(err, &exit) || exit.Code != code || !strings.Contains(exit.Message, command) {
			t.Errorf("Exec of %s: %v, want the code %d", command, err, code)
		}
		if text := stderr.String(); !strings.Contains(text, command) || strings.Contains(text, "level=") {
			t.Errorf("Exec of %s says %q", command, text)
		}
	}
	err = f.Exec(t.Context(), engine.Container{Sandbox: "exec", Name: "main", Attempt: 0}, []string{nodetest.Program, "exit", "255"}, engine.Streams{})
	if !errors.As(err, &exit) || exit.Code != 255 || exit.Message != "" {
		t.Errorf("Exec of a command that ends with 255: %v", err)
	}
	out.Reset()
	if err := f.Exec(t.Context(), c, []string{nodetest.Program, "stat", "/dev/tty"}, engine.Streams{Stdout: &out, Terminal: true}); err != nil {
		t.Errorf("Exec in a terminal: %v", err)
	}
	if !strings.Contains(out.String(), "\r\n") {
		t.Errorf("no terminal wrote %q", &out)
	}
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := f.Exec(short, c, []string{nodetest.Program, "sleep", "1h"}, engine.Streams{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Exec past its time: %v", err)
	}
	if err := f.Signal(t.Context(), c, syscall.SIGTERM); err != nil {
		t.Errorf("Signal: %v", err)
	}
	if log, exit := f.wait(t, c); exit.Code != 0 || !strings.Contains(log, "got terminated") {
		t.Errorf("exit %+v, log %s", exit, log)
	}
	if err := f.Signal(t.Context(), c, syscall.SIGTERM); err != nil {
		t.Errorf("Signal after the end: %v", err)
	}
}

func TestPurgeWithRunningContainer(t *testing.T) {
	f := newFixture(t)
	c, _ := f.create(t, "purge", testPod(corev1.Container{}), "stubborn")
	if err := f.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := engine.Purge(t.Context(), f.dir); err != nil {
		t.Fatalf("Purge: %v", err)
	}
	if _, err := os.Stat(f.dir); !os.IsNotExist(err) {
		t.Errorf("directory is still there: %v", err)
	}
}

// BenchmarkStart measures from nothing to a started container.
func BenchmarkStart(b *testing.B) {
	f := newFixture(b)
	pod := testPod(corev1.Container{})
	var networked, created time.Duration
	for i := range b.N {
		id := "b" + time.Now().Format("150405.000000")
		begin := time.Now()
		s, err := f.OpenSandbox(b.Context(), id, pod, func(netip.Addr) { networked += time.Since(begin) })
		if err != nil {
			b.Fatal(err)
		}
		before := time.Now()
		c, err := f.Create(b.Context(), engine.Request{
			Sandbox: s, Pod: pod, Container: &pod.Spec.Containers[0], Attempt: i, Layers: f.layers, Args: []string{nodetest.Program, "wait"},
		})
		if err != nil {
			b.Fatal(err)
		}
		created += time.Since(before)
		if err := f.Start(b.Context(), c); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := f.CloseSandbox(b.Context(), id); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(networked.Milliseconds())/float64(b.N), "ms-network/op")
	b.ReportMetric(float64(created.Milliseconds())/float64(b.N), "ms-create/op")
}
