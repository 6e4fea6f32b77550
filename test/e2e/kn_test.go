// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/ptr"
)

// What people do with kn from creation to deletion: service create, update, list, describe, apply, delete, and revision delete.
func TestKnCommands(t *testing.T) {
	k := kn{newWorld(t)}
	svc := k.create(probeService("app", version("one"), annotate("client.knative.dev/user-image", probeImage)))
	first := svc.Status.LatestReadyRevisionName

	svc = k.update("app", version("two"), func() {
		k.world.update("app", func(svc *servingv1.Service) { svc.Labels = map[string]string{"by": "another"} })
	})
	if svc.Labels["by"] != "another" {
		t.Error("a conflict was written over")
	}
	k.split(first, svc.Status.LatestReadyRevisionName)
	k.list("app")
	k.describe("app")
	k.update("app", func(svc *servingv1.Service) {
		svc.Spec.Traffic = []servingv1.TrafficTarget{{LatestRevision: ptr.Bool(true), Percent: ptr.Int64(100)}}
	})
	k.prune("app", first)
	k.delete("app")
}

// split is service update --tag first=old --tag @latest=new --traffic old=25,@latest=75.
func (k kn) split(first, latest string) {
	k.t.Helper()
	svc := k.update("app", func(svc *servingv1.Service) {
		if len(svc.Spec.Traffic) != 1 || svc.Spec.Traffic[0].LatestRevision == nil || !*svc.Spec.Traffic[0].LatestRevision {
			k.t.Fatalf("traffic of a new Service is %+v, want its default to follow the latest Revision", svc.Spec.Traffic)
		}
		svc.Spec.Traffic[0].Percent, svc.Spec.Traffic[0].Tag = ptr.Int64(75), "new"
		svc.Spec.Traffic = append(svc.Spec.Traffic, servingv1.TrafficTarget{RevisionName: first, Tag: "old", Percent: ptr.Int64(25)})
	})
	for i, want := range []struct {
		tag, revision, version string
		percent                int64
	}{{"new", latest, "two", 75}, {"old", first, "one", 25}} {
		got := svc.Status.Traffic[i]
		if svc.Spec.Traffic[i].LatestRevision == nil || got.LatestRevision == nil || *got.LatestRevision != (want.tag == "new") {
			k.t.Errorf("latestRevision of %s is %v in spec, %v in status", want.tag, svc.Spec.Traffic[i].LatestRevision, got.LatestRevision)
		}
		if got.Tag != want.tag || got.RevisionName != want.revision || got.Percent == nil || *got.Percent != want.percent || got.URL == nil {
			k.t.Fatalf("status.traffic[%d] is %+v, want %+v", i, got, want)
		}
		if a := k.getOK(got.URL.String()); !strings.HasPrefix(a.Body, want.version+" "+want.revision) {
			k.t.Errorf("tag %s answers %q", want.tag, a.Body)
		}
	}
}

// list is service list NAME.
func (k kn) list(name string) {
	k.t.Helper()
	list, err := k.services().List(k.ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil || len(list.Items) != 1 || list.Items[0].Name != name {
		k.t.Errorf("list of %s: %v %v", name, err, list)
	}
}

// describe is service describe -v: the Revisions that traffic goes to, and all of the Service.
func (k kn) describe(name string) {
	k.t.Helper()
	svc, err := k.services().Get(k.ctx, name, metav1.GetOptions{})
	if err != nil {
		k.t.Fatal(err)
	}
	for _, target := range svc.Status.Traffic {
		if _, err := k.revisions().Get(k.ctx, target.RevisionName, metav1.GetOptions{}); err != nil {
			k.t.Error(err)
		}
	}
	for _, rev := range k.revisionsOf(name) {
		if n, err := strconv.Atoi(rev.Labels["serving.knative.dev/configurationGeneration"]); err != nil || n < 1 {
			k.t.Errorf("generation of %s: %v", rev.Name, err)
		}
		if len(rev.Status.ContainerStatuses) != 1 {
			k.t.Errorf("%s has no container statuses", rev.Name)
		}
	}
}

func (k kn) revisionsOf(service string) []servingv1.Revision {
	k.t.Helper()
	list, err := k.revisions().List(k.ctx, metav1.ListOptions{LabelSelector: "serving.knative.dev/service=" + service})
	if err != nil {
		k.t.Fatal(err)
	}
	return list.Items
}

// prune is revision delete --prune: all Revisions that no traffic goes to, here one.
func (k kn) prune(service, want string) {
	k.t.Helper()
	k.eventually(want+" is out of use", func() (bool, error) {
		rev, err := k.revisions().Get(k.ctx, want, metav1.GetOptions{})
		return err == nil && rev.Labels["serving.knative.dev/routingState"] != "active", err
	})
	for _, rev := range k.revisionsOf(service) {
		if rev.Labels["serving.knative.dev/routingState"] == "active" {
			continue
		}
		if rev.Name != want {
			k.t.Errorf("%s is not active", rev.Name)
		}
		if err := k.revisions().Delete(k.ctx, rev.Name, metav1.DeleteOptions{}); err != nil {
			k.t.Error(err)
		}
	}
	k.eventually(want+" is gone", func() (bool, error) {
		_, err := k.revisions().Get(k.ctx, want, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

// service apply sends what changed since the last time as a merge patch; nothing changed where the generation that it gets back is the one observed.
func TestKnApply(t *testing.T) {
	k := kn{newWorld(t)}
	if !k.apply(probeService("app", version("one"))) {
		t.Error("a creation is no change")
	}
	k.wait("app")
	if k.apply(probeService("app", version("one"))) {
		t.Error("applying the same again is a change")
	}
	if !k.apply(probeService("app", version("two"))) {
		t.Error("applying something else is no change")
	}
	svc := k.wait("app")
	if a := k.getOK(svc.Status.URL.String()); !strings.HasPrefix(a.Body, "two ") {
		t.Errorf("the Service answers %q", a.Body)
	}
}

// apply says whether something changed.
func (k kn) apply(svc *servingv1.Service) bool {
	k.t.Helper()
	svc.TypeMeta = metav1.TypeMeta{APIVersion: "serving.knative.dev/v1", Kind: "Service"}
	manifest := k.json(svc)
	svc.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: string(manifest)}
	have, err := k.services().Get(k.ctx, svc.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		if _, err := k.services().Create(k.ctx, svc, metav1.CreateOptions{}); err != nil {
			k.t.Fatal(err)
		}
		return true
	}
	if err != nil {
		k.t.Fatal(err)
	}
	have.TypeMeta = svc.TypeMeta
	last := []byte(have.Annotations[corev1.LastAppliedConfigAnnotation])
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(last, k.json(svc), k.json(have))
	if err != nil {
		k.t.Fatal(err)
	}
	got, err := k.services().Patch(k.ctx, svc.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		k.t.Fatal(err)
	}
	return got.Generation != got.Status.ObservedGeneration
}

func (k kn) json(o any) []byte {
	k.t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		k.t.Fatal(err)
	}
	return raw
}

// service export --with-revisions and import: the administrator posts the Service, then the older Revisions as the Configuration's,
// and traffic goes to them as before.
func TestKnExportAndImport(t *testing.T) {
	k := kn{newWorld(t)}
	k.create(probeService("app", version("one"), revisionName("app-one")))
	k.update("app", func(svc *servingv1.Service) {
		revisionName("app-two")(svc)
		version("two")(svc)
		svc.Spec.Traffic = []servingv1.TrafficTarget{
			{LatestRevision: ptr.Bool(true), Percent: ptr.Int64(50), Tag: "two"}, {RevisionName: "app-one", Percent: ptr.Int64(50), Tag: "one"},
		}
	})
	svc, err := k.services().Get(k.ctx, "app", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	one, err := k.revisions().Get(k.ctx, "app-one", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	k.delete("app")
	k.eventually("the Revision is gone", func() (bool, error) {
		_, err := k.revisions().Get(k.ctx, "app-one", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	k.imported(svc, one)
	svc = k.wait("app")
	for i, want := range []string{"two app-two", "one app-one"} {
		if a := k.getOK(svc.Status.Traffic[i].URL.String()); !strings.HasPrefix(a.Body, want) {
			t.Errorf("after the import %s answers %q", svc.Status.Traffic[i].Tag, a.Body)
		}
	}
}

func (k kn) imported(svc *servingv1.Service, rev *servingv1.Revision) {
	k.t.Helper()
	_, err := k.services().Create(k.ctx, &servingv1.Service{ObjectMeta: metav1.ObjectMeta{Name: svc.Name}, Spec: svc.Spec}, metav1.CreateOptions{})
	if err != nil {
		k.t.Fatal(err)
	}
	var config *servingv1.Configuration
	k.eventually("the Configuration is there", func() (bool, error) {
		config, err = k.Serving.ServingV1().Configurations(k.ns).Get(k.ctx, svc.Name, metav1.GetOptions{})
		return err == nil, err
	})
	old := &servingv1.Revision{Spec: rev.Spec, ObjectMeta: metav1.ObjectMeta{
		Name: rev.Name, Labels: rev.Labels, Annotations: rev.Annotations,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(config, config.GetGroupVersionKind())},
	}}
	if _, err := k.revisions().Create(k.ctx, old, metav1.CreateOptions{}); err != nil {
		k.t.Fatal(err)
	}
}

// version sets the one variable that the program has.
func version(v string) func(*servingv1.Service) {
	return func(svc *servingv1.Service) {
		svc.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "VERSION", Value: v}}
	}
}

func revisionName(name string) func(*servingv1.Service) {
	return func(svc *servingv1.Service) { svc.Spec.Template.Name = name }
}
