// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/test/harness"
)

// The namespace of what is created, and the label of the Secrets that count.
const (
	namespace   = "bench"
	secretLabel = "bench.weir.dev/mine"
)

// createObjects makes the things that are reconciled.
func createObjects(ctx context.Context, kubeconfig string, count int, stderr io.Writer) error {
	s, err := harness.Connect(kubeconfig, "")
	if err != nil {
		return err
	}
	if err := errors.Join(ensureNamespace(ctx, s), installThings(ctx, s.Config)); err != nil {
		return err
	}
	things, err := newThingClient(s.Config)
	if err != nil {
		return err
	}
	return inParallel(ctx, count, stderr, func(ctx context.Context, i int) error {
		o := &thing{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("thing-%05d", i)}}
		o.APIVersion, o.Kind = thingGVK.ToAPIVersionAndKind()
		_, err := things(namespace).Create(ctx, o, metav1.CreateOptions{})
		return err
	})
}

// createSecrets makes the large ones, and a few small ones with the label.
func createSecrets(ctx context.Context, kubeconfig string, count int, stderr io.Writer) error {
	s, err := harness.Connect(kubeconfig, "")
	if err != nil {
		return err
	}
	if err := ensureNamespace(ctx, s); err != nil {
		return err
	}
	const small = 10
	return inParallel(ctx, count+small, stderr, func(ctx context.Context, i int) error {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("secret-%05d", i)}}
		data := make([]byte, 200<<10)
		if i < small {
			secret.Labels = map[string]string{secretLabel: "true"}
			data = data[:100]
		}
		_, _ = rand.Read(data)
		secret.Data = map[string][]byte{"data": data}
		_, err := s.Kube.CoreV1().Secrets(namespace).Create(ctx, secret, metav1.CreateOptions{})
		return err
	})
}

func ensureNamespace(ctx context.Context, s *harness.System) error {
	_, err := s.Kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func inParallel(ctx context.Context, count int, stderr io.Writer, f func(context.Context, int) error) error {
	start := time.Now()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(16)
	for i := range count {
		g.Go(func() error { return f(ctx, i) })
	}
	err := g.Wait()
	fmt.Fprintf(stderr, "made %d objects in %s\n", count, time.Since(start).Round(time.Millisecond))
	return err
}
