// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	servingv1 "weir.dev/api/serving/v1"
)

// Somebody who asks for it gets a new Revision when what the template refers to changes, and the Service stays
// as it was written.
func TestFollowConfig(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configMap("settings", map[string]string{"VERSION": "one"})
	w.configMap("others", map[string]string{"VERSION": "x"})
	fromMap := func(svc *servingv1.Service) {
		svc.Spec.Template.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "settings"},
		}}}
	}
	w.deploy(probeService("stays", fromMap))
	before := w.deploy(probeService("follows", fromMap, annotate("weir.dev/follow-config", "enabled")))
	if got := w.getOK(before.Status.URL.String()).Body; !strings.HasPrefix(got, "one ") {
		t.Fatalf("got %q", got)
	}
	w.setConfigMap("others", map[string]string{"VERSION": "y"})
	w.setConfigMap("settings", map[string]string{"VERSION": "two"})
	w.eventually("the new contents", func() (bool, error) {
		return strings.HasPrefix(w.getOK(before.Status.URL.String()).Body, "two "), nil
	})
	after := w.ready("follows")
	if after.Generation != before.Generation {
		t.Errorf("the Service is in generation %d, was in %d: it is its author's", after.Generation, before.Generation)
	}
	if got, want := after.Status.LatestReadyRevisionName, "follows-00002"; got != want {
		t.Errorf("latest ready %q, want %q: one change is one Revision", got, want)
	}
	if got, want := w.ready("stays").Status.LatestReadyRevisionName, "stays-00001"; got != want {
		t.Errorf("who did not ask is at %q, want %q", got, want)
	}
}

// A tag that is built again makes a new Revision at the next look.
func TestFollowTags(t *testing.T) {
	if suite.Own == nil {
		t.Skip("needs an image store to build into")
	}
	t.Parallel()
	w := newWorld(t)
	tag := "weir.local/follow-tags"
	w.build(tag, "../../examples/hello")
	svc := probeService("tags", annotate("weir.dev/follow-tags", "10s"))
	svc.Spec.Template.Spec.Containers[0].Image = tag
	url := w.deploy(svc).Status.URL.String()
	before := w.getOK(url).Body
	w.build(tag, "../apps/probe")
	w.eventually("what was built last", func() (bool, error) { return w.getOK(url).Body != before, nil })
	if got, want := w.ready("tags").Status.LatestReadyRevisionName, "tags-00002"; got != want {
		t.Errorf("latest ready %q, want %q", got, want)
	}
}

// build makes an image of the Go program in dir, where images are built for a Weir of ours.
func (w *world) build(tag, dir string) {
	w.t.Helper()
	if err := suite.Build(w.ctx, suite.Own.DataDir, dir, tag, output(w.t)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) setConfigMap(name string, data map[string]string) {
	w.t.Helper()
	maps := w.Kube.CoreV1().ConfigMaps(w.ns)
	cm, err := maps.Get(w.ctx, name, metav1.GetOptions{})
	if err == nil {
		cm.Data = data
		_, err = maps.Update(w.ctx, cm, metav1.UpdateOptions{})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}
