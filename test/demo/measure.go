// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/test/harness"
)

// warmRequests is how many sequential requests a median is taken of.
const warmRequests = 300

// measureWarm calls the app through the gateway and its instance directly, in turns, over kept-alive connections.
func (d *demo) measureWarm(ctx context.Context, app string) error {
	url, err := d.url(ctx, app)
	if err != nil {
		return err
	}
	direct, err := d.instanceURL(ctx, app)
	if err != nil {
		return err
	}
	var via, straight []time.Duration
	for range warmRequests {
		a, err := d.expectOK(ctx, url)
		if err != nil {
			return err
		}
		took, err := get(ctx, direct)
		if err != nil {
			return fmt.Errorf("call the instance of %s: %w", app, err)
		}
		via, straight = append(via, a.Took), append(straight, took)
	}
	f := d.figures.app(app)
	f.warm = harness.Quantile(via, 0.5)
	f.added = f.warm - harness.Quantile(straight, 0.5)
	return nil
}

func (d *demo) instanceURL(ctx context.Context, app string) (string, error) {
	pods, err := d.system.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{
		LabelSelector: "serving.knative.dev/service=" + app,
	})
	if err != nil {
		return "", err
	}
	for _, p := range pods.Items {
		if p.DeletionTimestamp == nil && p.Status.PodIP != "" {
			return fmt.Sprintf("http://%s:%d/", p.Status.PodIP, userPort(&p)), nil
		}
	}
	return "", fmt.Errorf("%s has no instance", app)
}

func userPort(p *corev1.Pod) int32 {
	for _, c := range p.Spec.Containers {
		for _, port := range c.Ports {
			return port.ContainerPort
		}
	}
	return 8080
}

func get(ctx context.Context, url string) (time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	a, err := (&harness.System{HTTP: http.DefaultClient}).Get(ctx, req.URL.String())
	return a.Took, err
}

// measureColdStarts deploys copies of hello, lets all of them scale to zero and wakes them one after another.
func (d *demo) measureColdStarts(ctx context.Context) error {
	d.say("Measure %d cold starts", d.coldStarts)
	names, err := d.deployCopies(ctx)
	if err != nil {
		return err
	}
	if err := d.scaleToZero(ctx); err != nil {
		return err
	}
	for _, name := range names {
		a, err := d.callApp(ctx, name)
		if err != nil {
			return err
		}
		d.figures.coldStarts = append(d.figures.coldStarts, a.Took)
	}
	return nil
}

func (d *demo) deployCopies(ctx context.Context) ([]string, error) {
	svc, err := harness.ReadService(d.examples + "/hello/service.yaml")
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range d.coldStarts {
		copied := svc.DeepCopy()
		copied.Name = fmt.Sprintf("hello-%02d", i+1)
		if _, err := d.create(ctx, copied); err != nil {
			return nil, err
		}
		names = append(names, copied.Name)
	}
	for _, name := range names {
		if _, err := d.system.WaitService(ctx, namespace, name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// idlePeriod is how long the CPU time of an idle Weir is watched.
const idlePeriod = 5 * time.Second

// measureIdle reads memory and CPU time of the weir process from /proc while nobody calls.
func (d *demo) measureIdle(ctx context.Context) error {
	d.say("Watch it idle for %v", idlePeriod)
	before, err := d.weir.CPUTime()
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(idlePeriod):
	}
	after, err := d.weir.CPUTime()
	if err != nil {
		return err
	}
	d.figures.idleCPU = float64(after-before) / float64(idlePeriod)
	d.figures.resident, err = d.weir.Resident()
	return err
}
