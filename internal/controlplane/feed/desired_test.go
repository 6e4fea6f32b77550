// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"weir.dev/api/networking/v1alpha1"
	"weir.dev/internal/feed/feedpb"
)

// TestDesiredTells holds what followers are told after each change, in order and no more.
func TestDesiredTells(t *testing.T) {
	d := newDesired()
	f := d.store.follow()
	step := func(what string, change func(), want ...string) {
		t.Helper()
		change()
		if diff := cmp.Diff(want, describe(d.store.take(f))); diff != "" {
			t.Errorf("%s: -want +got:\n%s", what, diff)
		}
	}
	rev := revision("hello-00001", "r1")
	in := ingress("hello", 1, split("hello-00001", 100, map[string]string{headerRevision: "hello-00001"}))

	step("a follower of nothing gets an empty snapshot", func() {}, "complete")
	step("a pod before its revision waits", func() { d.setPod(pod("p1", "r1")) })
	step("the revision comes with its pods", func() { d.setRevision(rev) },
		"backend ns/hello-00001", "instances ns/hello-00001 p1=STARTING")
	step("the same again is nothing", func() { d.setRevision(rev); d.setPod(pod("p1", "r1")) })
	step("ready", func() { d.setPod(pod("p1", "r1", ready)) }, "instances ns/hello-00001 p1=READY")
	step("not any more", func() { d.setPod(pod("p1", "r1")) }, "instances ns/hello-00001 p1=NOT_READY")
	step("routes", func() { d.setIngress(in) }, "ingress ns/hello 1")
	step("a pod of another revision of that name changes nothing", func() { d.setPod(pod("p9", "r0", ready)) })
	step("only the newest of several changes is told", func() {
		d.setPod(pod("p2", "r1"))
		d.setPod(pod("p2", "r1", ready))
		d.removePod(pod("p1", "r1"))
		d.setIngress(ingress("hello", 2))
		d.setIngress(ingress("hello", 3))
	}, "instances ns/hello-00001 p2=READY", "ingress ns/hello 3")
	step("what leads there goes first", func() { d.removeRevision(rev); d.removeIngress(in) },
		"ingress gone ns/hello", "backend gone ns/hello-00001")
	step("what came and went is not told as there", func() { d.setRevision(rev); d.removeRevision(rev) },
		"backend gone ns/hello-00001")
	step("a successor of the same name stays when the old one's end comes late", func() {
		d.setRevision(rev)
		d.setRevision(revision("hello-00001", "r2"))
		d.removeRevision(rev)
	}, "backend ns/hello-00001", "instances ns/hello-00001")
}

func TestDesiredForeignClass(t *testing.T) {
	d := newDesired()
	f := d.store.follow()
	in := ingress("hello", 1)
	d.setIngress(in)
	d.store.take(f)
	foreign := in.DeepCopy()
	foreign.Annotations["networking.knative.dev/ingress.class"] = "other"
	d.setIngress(foreign)
	if diff := cmp.Diff([]string{"ingress gone ns/hello"}, describe(d.store.take(f))); diff != "" {
		t.Errorf("an Ingress that was given to another implementation: -want +got:\n%s", diff)
	}
}

func TestDesiredServices(t *testing.T) {
	d := newDesired()
	f := d.store.follow()
	step := func(what string, change func(), want ...string) {
		t.Helper()
		change()
		if diff := cmp.Diff(want, describe(d.store.take(f))); diff != "" {
			t.Errorf("%s: -want +got:\n%s", what, diff)
		}
	}
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "plain"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}
	port := int32(9000)
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "plain-1", Labels: map[string]string{discoveryv1.LabelServiceName: "plain"},
		},
		Ports:     []discoveryv1.EndpointPort{{Port: &port}},
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.9"}}},
	}
	step("a Service that no Ingress names is not told", func() { d.setService(svc); d.setSlice(slice) }, "complete")
	step("named", func() { d.setIngress(ingress("a", 1, split("plain", 100, nil))) },
		"backend ns/plain:80", "instances ns/plain:80 10.0.0.9:9000=READY", "ingress ns/a 1")
	step("named twice", func() { d.setIngress(ingress("b", 1, split("plain", 100, nil))) }, "ingress ns/b 1")
	step("no endpoints", func() { d.removeSlice(slice) }, "instances ns/plain:80")
	step("no Service", func() { d.removeService(svc) }, "backend ns/plain:80 ServiceNotFound")
	step("named once", func() { d.removeIngress(ingress("a", 1)) }, "ingress gone ns/a")
	step("not named", func() { d.setIngress(ingress("b", 2)) }, "ingress ns/b 2", "backend gone ns/plain:80")
	if len(d.users)+len(d.ports)+len(d.slices)+len(d.services) != 0 {
		t.Errorf("left over: %v %v %v %v", d.users, d.ports, d.slices, d.services)
	}
}

func TestSnapshotIsCut(t *testing.T) {
	d := newDesired()
	for i := range chunk {
		d.setRevision(revision(fmt.Sprint("r", i), fmt.Sprint("r", i)))
	}
	f := d.store.follow()
	updates := d.store.take(f)
	if len(updates) != 2 || updates[0].Complete || !updates[1].Complete {
		t.Fatalf("got %d updates, want 2 of which the last is complete", len(updates))
	}
	if len(f.notify) != 1 {
		t.Errorf("a new follower is not told to start")
	}
	d.setRevision(revision("more", "more"))
	if later := d.store.take(f); len(later) != 1 || !later[0].Complete {
		t.Errorf("later updates are complete, got %v", later)
	}
}

func TestFleet(t *testing.T) {
	hello := ref{"ns", "hello"}
	served := func(gateway string, ready bool, generation int64) *feedpb.GatewayReport {
		return &feedpb.GatewayReport{Gateway: gateway, Ready: ready, Served: []*feedpb.Served{
			{Namespace: "ns", Name: "hello", Uid: "u", Generation: generation},
		}}
	}
	f := newFleet()
	check := func(reason string, generation int64, want bool) {
		t.Helper()
		if got := f.serves(hello, "u", generation); got != want {
			t.Errorf("%s: got %v, want %v", reason, got, want)
		}
	}
	check("without a gateway nothing is served", 1, false)
	f.join("a", 1)
	f.report(1, served("a", false, 1))
	check("a gateway without a snapshot does not count", 1, false)
	if _, all := f.report(1, &feedpb.GatewayReport{Gateway: "a", Ready: true}); !all {
		t.Error("a gateway that became ready concerns all Ingresses")
	}
	check("served", 1, true)
	check("not the next generation", 2, false)
	if f.serves(hello, "other", 1) {
		t.Error("an Ingress of the same name that was made anew is another one")
	}
	f.join("b", 2)
	check("a gateway that is not ready does not hold others up", 1, true)
	f.report(2, &feedpb.GatewayReport{Gateway: "b", Ready: true})
	check("all ready ones must serve it", 1, false)
	changed, _ := f.report(2, served("b", true, 3))
	if diff := cmp.Diff([]types.NamespacedName{{Namespace: "ns", Name: "hello"}}, changed); diff != "" {
		t.Errorf("changed: -want +got:\n%s", diff)
	}
	check("a newer one serves the older too", 1, true)
	f.join("b", 3)
	if f.leave("b", 2) {
		t.Error("the end of an old stream must not drop the new one")
	}
	if changed, all := f.report(2, served("b", true, 9)); changed != nil || all {
		t.Error("an old stream has nothing to say")
	}
	f.report(1, &feedpb.GatewayReport{Gateway: "a", Ready: true, Unserved: []*feedpb.Ref{{Namespace: "ns", Name: "hello"}}})
	check("unserved", 1, false)
	if !f.leave("a", 1) || !f.leave("b", 3) {
		t.Error("leave must say that the gateway is gone")
	}
}

func ingress(name string, generation int64, splits ...v1alpha1.IngressBackendSplit) *v1alpha1.Ingress {
	return &v1alpha1.Ingress{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, UID: types.UID(name), Generation: generation,
			Annotations: map[string]string{"networking.knative.dev/ingress.class": "weir.ingress.networking.knative.dev"},
		},
		Spec: v1alpha1.IngressSpec{Rules: []v1alpha1.IngressRule{{
			Hosts: []string{name + ".ns"},
			HTTP:  &v1alpha1.HTTPIngressRuleValue{Paths: []v1alpha1.HTTPIngressPath{{Splits: splits}}},
		}}},
	}
}

// describe gives each event a line, and one to an update that is complete and empty.
func describe(updates []*feedpb.Update) (lines []string) {
	for _, u := range updates {
		if len(u.Events) == 0 && u.Complete {
			lines = append(lines, "complete")
		}
		for _, e := range u.Events {
			lines = append(lines, describeEvent(e))
		}
	}
	return lines
}

func describeEvent(e *feedpb.Event) string {
	switch k := e.Kind.(type) {
	case *feedpb.Event_Ingress:
		return fmt.Sprintf("ingress %s/%s %d", k.Ingress.Namespace, k.Ingress.Name, k.Ingress.Generation)
	case *feedpb.Event_IngressRemoved:
		return "ingress gone " + name(k.IngressRemoved)
	case *feedpb.Event_Backend:
		line := "backend " + k.Backend.Namespace + "/" + k.Backend.Name
		if k.Backend.FailureReason != "" {
			line += " " + k.Backend.FailureReason
		}
		return line
	case *feedpb.Event_BackendRemoved:
		return "backend gone " + name(k.BackendRemoved)
	case *feedpb.Event_Instances:
		line := "instances " + name(k.Instances.Backend)
		for _, i := range k.Instances.Instances {
			line += " " + i.Name + "=" + i.State.String()
		}
		return line
	}
	return "unknown"
}

func name(r *feedpb.Ref) string { return r.Namespace + "/" + r.Name }
