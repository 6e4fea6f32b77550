// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/retry"

	servingv1 "weir.dev/api/serving/v1"
	typed "weir.dev/client/clientset/versioned/typed/serving/v1"
)

// kn talks as the command line client kn does: the calls and what it relies on in the answers, without its flags and texts.
type kn struct{ *world }

func (k kn) services() typed.ServiceInterface { return k.Serving.ServingV1().Services(k.ns) }

func (k kn) revisions() typed.RevisionInterface { return k.Serving.ServingV1().Revisions(k.ns) }

// create is service create: the Service must not be there.
func (k kn) create(svc *servingv1.Service) *servingv1.Service {
	k.t.Helper()
	if _, err := k.services().Get(k.ctx, svc.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		k.t.Fatalf("get before create: %v, want NotFound", err)
	}
	if _, err := k.services().Create(k.ctx, svc, metav1.CreateOptions{}); err != nil {
		k.t.Fatal(err)
	}
	return k.wait(svc.Name)
}

// update is service update: read, change, write, again after a conflict. between comes between reading and writing, once.
func (k kn) update(name string, change func(*servingv1.Service), between ...func()) *servingv1.Service {
	k.t.Helper()
	var before, after *servingv1.Service
	backoff := wait.Backoff{Steps: 5, Duration: 20 * time.Millisecond, Factor: 1.5}
	err := retry.RetryOnConflict(backoff, func() (err error) {
		if before, err = k.services().Get(k.ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		if before.DeletionTimestamp != nil {
			return fmt.Errorf("%s is being deleted", name)
		}
		for _, f := range between {
			f()
		}
		between = nil
		desired := before.DeepCopy()
		change(desired)
		after, err = k.services().Update(k.ctx, desired, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		k.t.Fatal(err)
	}
	if after.Generation == before.Generation {
		k.t.Errorf("the update of %s counts as none: generation %d", name, after.Generation)
	}
	return k.wait(name)
}

// wait is what all commands do that wait: ready already, or events from there on of which only MODIFIED count, and only those that
// speak of the present generation.
func (k kn) wait(name string) *servingv1.Service {
	k.t.Helper()
	svc, err := k.services().Get(k.ctx, name, metav1.GetOptions{})
	if err != nil {
		k.t.Fatal(err)
	}
	if ready(svc) {
		return svc
	}
	seconds := int64(limit / time.Second)
	w, err := k.services().Watch(k.ctx, metav1.ListOptions{
		FieldSelector: "metadata.name=" + name, ResourceVersion: svc.ResourceVersion, TimeoutSeconds: &seconds,
	})
	if err != nil {
		k.t.Fatal(err)
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		svc, ok := event.Object.(*servingv1.Service)
		if event.Type == watch.Modified && ok && ready(svc) {
			return svc
		}
	}
	k.t.Fatalf("no event says that %s is ready\n%s", name, k.world.describe())
	return nil
}

func ready(svc *servingv1.Service) bool {
	return svc.Status.ObservedGeneration == svc.Generation && svc.Status.GetCondition("Ready").IsTrue()
}

// delete is service delete --wait: in the foreground, until an event says that it is gone.
func (k kn) delete(name string) {
	k.t.Helper()
	svc, err := k.services().Get(k.ctx, name, metav1.GetOptions{})
	if err != nil {
		k.t.Fatal(err)
	}
	w, err := k.services().Watch(k.ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name, ResourceVersion: svc.ResourceVersion})
	if err != nil {
		k.t.Fatal(err)
	}
	defer w.Stop()
	foreground := metav1.DeletePropagationForeground
	if err := k.services().Delete(k.ctx, name, metav1.DeleteOptions{PropagationPolicy: &foreground}); err != nil {
		k.t.Fatal(err)
	}
	for event := range w.ResultChan() {
		if event.Type == watch.Deleted {
			return
		}
	}
	k.t.Fatalf("no event says that %s is deleted", name)
}
