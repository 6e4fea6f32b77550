// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	imagev1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"

	"weir.dev/embedded/node/engine"
	"weir.dev/embedded/node/nodetest"
	"weir.dev/internal/image"
)

func TestMain(m *testing.M) { os.Exit(nodetest.Main(m)) }

// images is a store whose only image is the test program.
type images struct{ layer string }

func (s images) Lookup(ref string) (*image.Image, error) {
	if !strings.HasPrefix(ref, "test") {
		return nil, image.ErrNotFound
	}
	config := imagev1.ConfigFile{Config: imagev1.Config{Entrypoint: []string{nodetest.Program}}}
	return &image.Image{Ref: ref, Digest: "sha256:" + strings.Repeat("0", 64), Config: config}, nil
}

func (s images) Pull(context.Context, string, image.PullOptions) (*image.Image, error) {
	return nil, image.ErrLocalRegistry
}

func (s images) Unpack(context.Context, *image.Image) ([]string, error) {
	return []string{s.layer}, nil
}
func (s images) Hold(string, *image.Image) error { return nil }
func (s images) Release(string) error            { return nil }

// world is a machine with an API; nodes come and go on it.
type world struct {
	client  *fake.Clientset
	dir     string
	images  images
	network *nodetest.Network
}

func newWorld(t testing.TB) *world {
	t.Helper()
	nodetest.NeedContainers(t)
	w := &world{client: fake.NewClientset(), dir: t.TempDir(), images: images{nodetest.Rootfs(t)}, network: nodetest.NewNetwork(t)}
	t.Cleanup(func() {
		if err := Purge(w.dir); err != nil {
			t.Errorf("Purge: %v", err)
		}
	})
	return w
}

// start runs a node until stop is called or the test ends.
func (w *world) start(t testing.TB, change ...func(*Config)) (n *Node, stop func()) {
	t.Helper()
	cfg := Config{
		Name: "node", DataDir: w.dir, Client: w.client, Images: w.images, Network: w.network,
		ClusterDNS: netip.MustParseAddr("10.96.0.10"), NodeIP: netip.MustParseAddr("192.0.2.1"),
	}
	for _, f := range change {
		f(&cfg)
	}
	n, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
	t.Cleanup(stop)
	select {
	case <-n.Ready():
	case err := <-done:
		t.Fatalf("Run: %v", err)
	case <-time.After(time.Minute):
		t.Fatal("node does not become ready")
	}
	return n, stop
}

// pod creates a pod on the node.
func (w *world) pod(t testing.TB, name string, policy corev1.RestartPolicy, c corev1.Container) *corev1.Pod {
	t.Helper()
	c.Name, c.Image = "main", "test"
	return w.create(t, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name)},
		Spec: corev1.PodSpec{NodeName: "node", RestartPolicy: policy, Containers: []corev1.Container{c},
			DNSPolicy: corev1.DNSClusterFirst, TerminationGracePeriodSeconds: ptr.To[int64](30)},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	})
}

func (w *world) create(t testing.TB, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	pod, err := w.client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

// await watches a pod until ok is true; nil stands for a pod that is gone.
func (w *world) await(t testing.TB, name string, ok func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	pods := w.client.CoreV1().Pods("default")
	changes, err := pods.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer changes.Stop()
	pod, err := pods.Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		pod = nil
	}
	limit := time.After(time.Minute)
	for !ok(pod) {
		select {
		case event := <-changes.ResultChan():
			if changed, is := event.Object.(*corev1.Pod); is && changed.Name == name {
				pod = changed
				if event.Type == watch.Deleted {
					pod = nil
				}
			}
		case <-limit:
			t.Fatalf("pod %s does not get there: %s", name, describe(pod))
		}
	}
	return pod
}

func gone(pod *corev1.Pod) bool { return pod == nil }

func phase(p corev1.PodPhase) func(*corev1.Pod) bool {
	return func(pod *corev1.Pod) bool { return pod != nil && pod.Status.Phase == p }
}

func ready(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// delete does what the API server does when a pod is deleted with a grace period.
func (w *world) delete(t testing.TB, name string, grace int64) {
	t.Helper()
	pods := w.client.CoreV1().Pods("default")
	pod, err := pods.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod.DeletionGracePeriodSeconds = &grace
	pod.DeletionTimestamp = ptr.To(metav1.NewTime(time.Now().Add(time.Duration(grace) * time.Second).Truncate(time.Second)))
	if _, err := pods.Update(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func log(t testing.TB, n *Node, pod, query string) string {
	t.Helper()
	w := httptest.NewRecorder()
	n.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/containerLogs/default/"+pod+"/main?"+query, nil))
	if w.Code != http.StatusOK {
		t.Errorf("log of %s: %d %s", pod, w.Code, w.Body)
	}
	return w.Body.String()
}

func TestJobRunsAndItsLogStays(t *testing.T) {
	w := newWorld(t)
	n, _ := w.start(t)
	w.pod(t, "job", corev1.RestartPolicyNever, corev1.Container{Args: []string{"echo", "$(WHO)", "here"},
		Env: []corev1.EnvVar{{Name: "WHO", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}}}})
	pod := w.await(t, "job", phase(corev1.PodSucceeded))
	if want := pod.Status.PodIP + " here\n"; log(t, n, "job", "") != want {
		t.Errorf("log is %q, want %q", log(t, n, "job", ""), want)
	}
	st := pod.Status.ContainerStatuses[0]
	if st.State.Terminated == nil || st.State.Terminated.Reason != "Completed" || !strings.Contains(st.ImageID, "@sha256:") ||
		!strings.HasPrefix(st.ContainerID, "runc://") || pod.Status.HostIP != "192.0.2.1" {
		t.Errorf("status is %+v", pod.Status)
	}
	w.delete(t, "job", 30)
	w.await(t, "job", gone)
	// Its address went when it ended, everything else with its deletion.
	if ids, err := n.engine.Sandboxes(); err != nil || len(ids) > 0 {
		t.Errorf("left over: %v, %v", ids, err)
	}
}

func TestFailureIsShown(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	w.pod(t, "bad", corev1.RestartPolicyNever, corev1.Container{
		Args: []string{"stderr", "it broke"}, TerminationMessagePath: "/dev/termination-log",
	})
	w.await(t, "bad", phase(corev1.PodSucceeded))
	w.pod(t, "worse", corev1.RestartPolicyAlways, corev1.Container{Command: []string{"/no/such/program"}})
	pod := w.await(t, "worse", func(pod *corev1.Pod) bool {
		return pod != nil && len(pod.Status.ContainerStatuses) == 1 && pod.Status.ContainerStatuses[0].LastTerminationState.Terminated != nil
	})
	if last := pod.Status.ContainerStatuses[0].LastTerminationState.Terminated; last.Reason != "StartError" || !strings.Contains(last.Message, "/no/such/program") {
		t.Errorf("last state is %+v", last)
	}
	w.pod(t, "worst", corev1.RestartPolicyNever, corev1.Container{
		Args: []string{"cat", "/no/such/file"}, TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		TerminationMessagePath: "/dev/termination-log",
	})
	pod = w.await(t, "worst", phase(corev1.PodFailed))
	if end := pod.Status.ContainerStatuses[0].State.Terminated; end.ExitCode != 1 || !strings.Contains(end.Message, "/no/such/file") {
		t.Errorf("end is %+v", end)
	}
}

func server() corev1.Container {
	return corev1.Container{
		Args:  []string{"serve", ":8080"},
		Ports: []corev1.ContainerPort{{Name: "user-port", ContainerPort: 8080}},
		ReadinessProbe: &corev1.Probe{PeriodSeconds: 10, ProbeHandler: corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Path: "/healthy", Port: intstr.FromString("user-port")}}},
		Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{
			HTTPGet: &corev1.HTTPGetAction{Path: "/log?preStop", Port: intstr.FromString("user-port")}}},
	}
}

func TestServer(t *testing.T) {
	w := newWorld(t)
	n, _ := w.start(t)
	w.pod(t, "web", corev1.RestartPolicyAlways, server())
	addressed := w.await(t, "web", func(pod *corev1.Pod) bool { return pod.Status.PodIP != "" })
	if st := addressed.Status.ContainerStatuses; len(st) == 1 && st[0].State.Running != nil {
		t.Error("the pod's address came only with its container")
	}
	pod := w.await(t, "web", ready)

	response, err := http.Get("http://" + pod.Status.PodIP + ":8080/log?hello")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	var out bytes.Buffer
	running := n.provider.byName("default", "web")
	c, err := running.Running("main")
	if err != nil {
		t.Fatal(err)
	}
	if err := n.engine.Exec(t.Context(), c, []string{nodetest.Program, "id"}, engine.Streams{Stdout: &out}); err != nil || out.String() != "0 0 [0]\n" {
		t.Errorf("exec: %q, %v", &out, err)
	}

	follow, write := io.Pipe()
	go func() {
		request := httptest.NewRequest(http.MethodGet, "/containerLogs/default/web/main?follow=true", nil)
		n.handler().ServeHTTP(pipeWriter{write}, request)
		_ = write.Close()
	}()
	w.delete(t, "web", 30)
	text, err := io.ReadAll(follow)
	if err != nil {
		t.Error(err)
	}
	if want := "serving\ncalled hello\ncalled preStop\ngot terminated\n"; string(text) != want {
		t.Errorf("log is %q, want %q", text, want)
	}
	w.await(t, "web", gone)
	if ids, err := n.engine.Sandboxes(); err != nil || len(ids) > 0 {
		t.Errorf("left over: %v, %v", ids, err)
	}
}

// pipeWriter is a response that ends in a pipe.
type pipeWriter struct{ io.Writer }

func (pipeWriter) Header() http.Header { return http.Header{} }
func (pipeWriter) WriteHeader(int)     {}

func TestContainersSurviveTheirNode(t *testing.T) {
	w := newWorld(t)
	_, stop := w.start(t)
	w.pod(t, "web", corev1.RestartPolicyAlways, server())
	before := w.await(t, "web", ready)
	w.pod(t, "short", corev1.RestartPolicyNever, corev1.Container{Args: []string{"wait"}})
	w.await(t, "short", phase(corev1.PodRunning))
	w.pod(t, "doomed", corev1.RestartPolicyAlways, corev1.Container{Args: []string{"wait"}})
	w.await(t, "doomed", phase(corev1.PodRunning))
	stop()

	// Meanwhile one ends by itself and another is deleted from the API.
	for _, name := range []string{"short"} {
		pod := w.await(t, name, phase(corev1.PodRunning))
		id := strings.TrimPrefix(pod.Status.ContainerStatuses[0].ContainerID, "runc://")
		signalContainer(t, w, id)
	}
	if err := w.client.CoreV1().Pods("default").Delete(t.Context(), "doomed", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}

	n, _ := w.start(t)
	w.await(t, "short", phase(corev1.PodSucceeded))
	after := w.await(t, "web", ready)
	if before.Status.ContainerStatuses[0].ContainerID != after.Status.ContainerStatuses[0].ContainerID || after.Status.ContainerStatuses[0].RestartCount != 0 {
		t.Errorf("container was started again: %+v", after.Status.ContainerStatuses)
	}
	if got := log(t, n, "web", "tailLines=1"); got != "serving\n" {
		t.Errorf("log is %q", got)
	}
	if doomed := n.provider.byName("default", "doomed"); doomed != nil {
		select {
		case <-doomed.Done():
		case <-time.After(time.Minute):
			t.Error("a pod that the API forgot is still there")
		}
	}
	w.delete(t, "web", 30)
	w.await(t, "web", gone)
}

func signalContainer(t *testing.T, w *world, id string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(w.dir, "node", "sandboxes", "*", "containers", "main-0", "pid"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		if !strings.Contains(path, strings.Split(id, "-")[0]) {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var pid int
		if _, err := fmt.Sscan(string(data), &pid); err != nil {
			t.Fatal(err)
		}
		process, err := os.FindProcess(pid)
		if err != nil {
			t.Fatal(err)
		}
		if err := process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
}

func stopContainers(c *Config) { c.StopContainersOnExit = true }

func TestStopContainersOnExit(t *testing.T) {
	w := newWorld(t)
	n, stop := w.start(t, stopContainers)
	w.pod(t, "web", corev1.RestartPolicyAlways, server())
	before := w.await(t, "web", ready)
	stop()
	if ids, err := n.engine.Sandboxes(); err != nil || len(ids) > 0 {
		t.Errorf("left over: %v, %v", ids, err)
	}
	w.start(t, stopContainers)
	after := w.await(t, "web", func(pod *corev1.Pod) bool {
		return ready(pod) && pod.Status.ContainerStatuses[0].ContainerID != before.Status.ContainerStatuses[0].ContainerID
	})
	if after.Status.ContainerStatuses[0].RestartCount != 1 {
		t.Errorf("status is %+v", after.Status.ContainerStatuses)
	}
}

func TestPurgeAfterKill(t *testing.T) {
	w := newWorld(t)
	_, stop := w.start(t)
	w.pod(t, "web", corev1.RestartPolicyAlways, server())
	w.await(t, "web", ready)
	stop()
	if err := Purge(w.dir); err != nil {
		t.Fatalf("Purge: %v", err)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "node")); !os.IsNotExist(err) {
		t.Errorf("directory is still there: %v", err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(mounts), w.dir+"/") {
		t.Errorf("mounts are left: %v", err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("an empty configuration was accepted")
	}
}

// describe is what of a pod helps to find out why a test failed.
func describe(pod *corev1.Pod) string {
	if pod == nil {
		return "it does not exist"
	}
	text, err := json.MarshalIndent(pod.Status, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}
