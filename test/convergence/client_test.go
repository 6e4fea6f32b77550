// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package convergence

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	servingv1 "weir.dev/api/serving/v1"
	typed "weir.dev/client/clientset/versioned/typed/serving/v1"
	"weir.dev/pkg/ptr"
	"weir.dev/test/harness"
)

// names are the Services: with a tag "x", the first claims the host of the last.
var names = []string{"a", "b", "x-a"}

// client does random things, one after the other. What is refused, by a conflict or because nobody answers for admission, did
// not happen.
type client struct {
	*rand.Rand
	services  typed.ServiceInterface
	revisions typed.RevisionInterface
	version   int
	accepted  int
	refused   map[string]int
}

func newClient(api typed.ServingV1Interface, namespace string, stream uint64) *client {
	return &client{
		Rand:     rand.New(rand.NewPCG(*seed, stream)),
		services: api.Services(namespace), revisions: api.Revisions(namespace),
		version: int(stream) * 1000, refused: map[string]int{},
	}
}

// work goes on until ctx is done. After every other step it waits a while for the Service to be Ready, so that there is
// something to hold against answers.
func (c *client) work(ctx context.Context) {
	for ctx.Err() == nil {
		name := names[c.IntN(len(names))]
		if err := c.step(ctx, name); err != nil {
			c.refused[string(reasonOf(err))]++
		} else {
			c.accepted++
		}
		wait := time.Duration(50+c.IntN(250)) * time.Millisecond
		if c.IntN(2) == 0 {
			c.awaitReady(ctx, name, 5*time.Second)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// awaitReady returns when the Service is Ready, or is not there, or the time is up.
func (c *client) awaitReady(ctx context.Context, name string, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_ = harness.Eventually(ctx, "ready", func(ctx context.Context) (bool, error) {
		svc, err := c.services.Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err) || err == nil && svc.IsReady(), nil
	})
}

// step does one thing to one Service.
func (c *client) step(ctx context.Context, name string) error {
	switch n := c.IntN(20); {
	case n < 5:
		_, err := c.services.Create(ctx, c.service(name), metav1.CreateOptions{})
		return err
	case n < 10:
		return c.update(ctx, name, func(svc *servingv1.Service) { svc.Spec.Template = c.service(name).Spec.Template })
	case n < 14:
		return c.update(ctx, name, func(svc *servingv1.Service) { svc.Spec.Traffic = c.traffic(ctx, name) })
	case n < 16:
		return c.update(ctx, name, func(svc *servingv1.Service) { svc.Labels = map[string]string{"n": fmt.Sprint(c.IntN(5))} })
	case n < 18:
		return c.deleteRevision(ctx, name)
	default:
		policy := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground}[c.IntN(2)]
		return c.services.Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &policy})
	}
}

// service is a random one; most work.
func (c *client) service(name string) *servingv1.Service {
	c.version++
	svc := &servingv1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}}
	t := &svc.Spec.Template
	// Nothing is to change by itself when everybody rests.
	t.Annotations = map[string]string{"autoscaling.knative.dev/window": "1h"}
	t.Spec.Containers = []corev1.Container{{Image: image, Env: []corev1.EnvVar{{Name: "VERSION", Value: fmt.Sprint(c.version)}}}}
	switch c.IntN(6) {
	case 0:
		t.Spec.Containers[0].Image = missing
	case 1, 2:
		t.Annotations["autoscaling.knative.dev/initial-scale"] = "0"
	}
	return svc
}

// traffic is a random one that adds up: to the latest Revision, to any of those that exist, to one that does not.
func (c *client) traffic(ctx context.Context, name string) []servingv1.TrafficTarget {
	latest := servingv1.TrafficTarget{LatestRevision: ptr.Bool(true), Percent: ptr.Int64(100)}
	list, err := c.revisions.List(ctx, metav1.ListOptions{LabelSelector: "serving.knative.dev/service=" + name})
	if err != nil || len(list.Items) == 0 || c.IntN(4) == 0 {
		return []servingv1.TrafficTarget{latest}
	}
	named := servingv1.TrafficTarget{RevisionName: list.Items[c.IntN(len(list.Items))].Name}
	if c.IntN(8) == 0 {
		named.RevisionName = name + "-nowhere"
	}
	if c.IntN(2) == 0 {
		named.Tag = "x"
	}
	share := int64(c.IntN(101))
	named.Percent, latest.Percent = &share, ptr.Int64(100-share)
	return []servingv1.TrafficTarget{named, latest}
}

func (c *client) update(ctx context.Context, name string, change func(*servingv1.Service)) error {
	svc, err := c.services.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	change(svc)
	_, err = c.services.Update(ctx, svc, metav1.UpdateOptions{})
	return err
}

// deleteRevision asks for any one to go; those that are routed to are refused.
func (c *client) deleteRevision(ctx context.Context, name string) error {
	list, err := c.revisions.List(ctx, metav1.ListOptions{LabelSelector: "serving.knative.dev/service=" + name})
	if err != nil || len(list.Items) == 0 {
		return err
	}
	return c.revisions.Delete(ctx, list.Items[c.IntN(len(list.Items))].Name, metav1.DeleteOptions{})
}
