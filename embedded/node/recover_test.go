// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"weir.dev/embedded/node/engine"
	"weir.dev/embedded/node/nodetest"
	"weir.dev/embedded/node/pod"
	noderecord "weir.dev/embedded/node/record"
)

// TestLeftoversOfACrash puts a machine into states that only a process which was
// killed leaves behind.
func TestLeftoversOfACrash(t *testing.T) {
	w := newWorld(t)
	n, stop := w.start(t)
	stop()

	// A container that was created and never started.
	api := w.pod(t, "half", corev1.RestartPolicyAlways, corev1.Container{Args: []string{"wait"}})
	sandbox, err := n.engine.OpenSandbox(t.Context(), "half", api, func(netip.Addr) {})
	if err != nil {
		t.Fatal(err)
	}
	_, err = n.engine.Create(t.Context(), engine.Request{Sandbox: sandbox, Pod: api, Container: &api.Spec.Containers[0],
		Layers: []string{w.images.layer}, Args: []string{nodetest.Program, "wait"}})
	if err != nil {
		t.Fatal(err)
	}
	begun := pod.New(n.provider.config, "half", api).Snapshot()
	if err := n.records.Save(noderecord.Record{Sandbox: "half", Pod: begun}); err != nil {
		t.Fatal(err)
	}
	// A sandbox whose pod was not written down.
	if _, err := n.engine.OpenSandbox(t.Context(), "orphan", api, func(netip.Addr) {}); err != nil {
		t.Fatal(err)
	}

	n, _ = w.start(t)
	w.await(t, "half", phase(corev1.PodRunning))
	ids, err := n.engine.Sandboxes()
	if err != nil || !slices.Equal(ids, []string{"half"}) {
		t.Errorf("sandboxes are %v, %v", ids, err)
	}
}

func TestRestartOfTheMachine(t *testing.T) {
	w := newWorld(t)
	_, stop := w.start(t)
	w.pod(t, "web", corev1.RestartPolicyAlways, server())
	before := w.await(t, "web", ready)
	stop()
	// As far as the node can tell, another boot.
	if err := os.WriteFile(filepath.Join(w.dir, "node", "boot-id"), []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	n, _ := w.start(t)
	after := w.await(t, "web", func(pod *corev1.Pod) bool { return ready(pod) && pod.Status.ContainerStatuses[0].RestartCount == 1 })
	if before.Status.ContainerStatuses[0].ContainerID == after.Status.ContainerStatuses[0].ContainerID {
		t.Error("the old container is said to run")
	}
	if ids, err := n.engine.Sandboxes(); err != nil || len(ids) != 1 {
		t.Errorf("sandboxes are %v, %v", ids, err)
	}
}

func TestRegistration(t *testing.T) {
	w := newWorld(t)
	// Admission gives new nodes a taint.
	tainted := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{
		{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}, {Key: "mine", Effect: corev1.TaintEffectNoSchedule}}}}
	if err := w.client.Tracker().Add(tainted); err != nil {
		t.Fatal(err)
	}
	leases, err := w.client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer leases.Stop()
	w.start(t)
	node, err := w.client.CoreV1().Nodes().Get(t.Context(), "node", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(node.Spec.Taints) != 1 || node.Spec.Taints[0].Key != "mine" {
		t.Errorf("taints are %v", node.Spec.Taints)
	}
	if node.Labels[corev1.LabelOSStable] != "linux" || node.Labels[corev1.LabelHostname] != "node" {
		t.Errorf("labels are %v", node.Labels)
	}
	st := node.Status
	isReady := slices.ContainsFunc(st.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	if !isReady || st.Capacity.Memory().IsZero() || st.Allocatable.Cpu().IsZero() || len(st.Addresses) != 1 || st.NodeInfo.ContainerRuntimeVersion == "" {
		t.Errorf("status is %+v", st)
	}
	select {
	case event := <-leases.ResultChan():
		if event.Type != watch.Added {
			t.Errorf("lease: %v", event)
		}
	case <-time.After(time.Minute):
		t.Error("there is no lease")
	}
}
