// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/test/harness"
)

const namespace = "default"

// create creates the Services, a few at a time, and prints what that took.
func (b *bench) create(ctx context.Context) error {
	before, err := b.quiet(ctx)
	if err != nil {
		return err
	}
	cpu, err := b.weir.CPUTime()
	if err != nil {
		return err
	}
	start := time.Now()
	took, err := b.createAll(ctx)
	if err != nil {
		return err
	}
	all := time.Since(start)
	after, err := b.quiet(ctx)
	if err != nil {
		return err
	}
	cpuAfter, err := b.weir.CPUTime()
	if err != nil {
		return err
	}
	resident, err := b.weir.Resident()
	if err != nil {
		return err
	}
	n := float64(b.services)
	fmt.Fprintf(b.out, "%d Services with initial scale 0, %d at a time, all Ready in %.1f s\n", b.services, b.workers, all.Seconds())
	fmt.Fprintf(b.out, "  %-34s %8.2f\n", "CPU seconds a Service", (cpuAfter-cpu).Seconds()/n)
	fmt.Fprintf(b.out, "  %-34s %8.0f\n", "resident at the end, MiB", float64(resident)/(1<<20))
	tenth := max(b.services/10, 1)
	first, last := harness.Quantile(took[:tenth], 0.5), harness.Quantile(took[len(took)-tenth:], 0.5)
	fmt.Fprintf(b.out, "  %-34s %8.0f\n", "create to Ready, first tenth, ms", first.Seconds()*1000)
	fmt.Fprintf(b.out, "  %-34s %8.0f   ratio %.2f\n", "create to Ready, last tenth, ms", last.Seconds()*1000, last.Seconds()/first.Seconds())
	after.created.minus(before.created).print(b.out, "objects", n)
	after.writes.minus(before.writes).print(b.out, "writes", n)
	after.refused.minus(before.refused).print(b.out, "refused writes", n)
	return nil
}

// createAll returns how long each Service took, in the order of creation.
func (b *bench) createAll(ctx context.Context) ([]time.Duration, error) {
	took := make([]time.Duration, b.services)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(b.workers)
	for i := range b.services {
		group.Go(func() error {
			start := time.Now()
			svc := service(fmt.Sprintf("s%05d", i))
			if _, err := b.system.Serving.ServingV1().Services(namespace).Create(ctx, svc, metav1.CreateOptions{}); err != nil {
				return err
			}
			_, err := b.system.WaitService(ctx, namespace, svc.Name)
			took[i] = time.Since(start)
			return err
		})
	}
	return took, group.Wait()
}

// service is one that runs nowhere: its image is never pulled.
func service(name string) *servingv1.Service {
	svc := &servingv1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}}
	svc.Spec.Template.Annotations = map[string]string{"autoscaling.knative.dev/initial-scale": "0"}
	svc.Spec.Template.Spec.Containers = []corev1.Container{{Image: "weir.local/none"}}
	return svc
}

// restart starts everything anew and prints what was written although nothing had changed.
func (b *bench) restart(ctx context.Context) error {
	if err := b.stop(); err != nil {
		return err
	}
	start := time.Now()
	if err := b.start(ctx); err != nil {
		return err
	}
	ready := time.Since(start)
	after, err := b.quiet(ctx)
	if err != nil {
		return err
	}
	cpu, err := b.weir.CPUTime()
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "Started again: ready in %.1f s, at rest after %.1f CPU seconds\n", ready.Seconds(), cpu.Seconds())
	after.writes.print(b.out, "writes", 1)
	return nil
}
