// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package convergence

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/test/harness"
)

// witness sees whether what the status says is true.
type witness struct {
	*harness.System
	namespace string
	judged    int
}

// watch looks again and again until ctx is done, and returns what was not as it must be.
func (w *witness) watch(ctx context.Context) error {
	var errs []error
	for i := 0; ctx.Err() == nil; i++ {
		errs = append(errs, w.uniqueHosts(ctx), w.truth(ctx, names[i%len(names)]))
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	return errors.Join(errs...)
}

// uniqueHosts holds that no host leads to two Ingresses.
func (w *witness) uniqueHosts(ctx context.Context) error {
	list, err := w.Serving.NetworkingV1alpha1().Ingresses("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return unlessDone(ctx, err)
	}
	owner := map[string]string{}
	for i := range list.Items {
		ing := &list.Items[i]
		for _, rule := range ing.Spec.Rules {
			for _, host := range rule.Hosts {
				if other, ok := owner[host]; ok && other != ing.Name {
					return fmt.Errorf("host %s belongs to %s and %s", host, other, ing.Name)
				}
				owner[host] = ing.Name
			}
		}
	}
	return nil
}

// truth calls a Service that says that it is Ready, and holds its status against the answers. It judges only if the Service
// said the same after the calls as before.
func (w *witness) truth(ctx context.Context, name string) error {
	services := w.Serving.ServingV1().Services(w.namespace)
	before, err := services.Get(ctx, name, metav1.GetOptions{})
	if err != nil || !before.IsReady() {
		return unlessDone(ctx, unlessNotFound(err))
	}
	wrong := w.call(ctx, before)
	after, err := services.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return unlessDone(ctx, unlessNotFound(err))
	}
	if before.UID != after.UID || !after.IsReady() || !reflect.DeepEqual(before.Spec, after.Spec) ||
		!reflect.DeepEqual(before.Status.Traffic, after.Status.Traffic) {
		return nil
	}
	w.judged++
	if wrong != nil {
		return unlessDone(ctx, fmt.Errorf("service %s, generation %d, is Ready: %w", name, before.Generation, wrong))
	}
	return nil
}

// call sends a request to each of the URLs of svc.
func (w *witness) call(ctx context.Context, svc *servingv1.Service) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	routed := map[string]bool{}
	for _, t := range svc.Status.Traffic {
		routed[t.RevisionName] = routed[t.RevisionName] || (t.Percent != nil && *t.Percent > 0)
		if t.Tag == "" {
			continue
		}
		if err := w.answers(ctx, t.URL.String(), func(revision string) bool { return revision == t.RevisionName }); err != nil {
			return err
		}
	}
	return w.answers(ctx, svc.Status.URL.String(), func(revision string) bool { return routed[revision] })
}

// answers holds that url is answered by a Revision that may.
func (w *witness) answers(ctx context.Context, url string, may func(revision string) bool) error {
	a, err := w.Get(ctx, url)
	if err != nil {
		return err
	}
	_, revision, _ := strings.Cut(strings.TrimSpace(a.Body), " ")
	if a.Status != http.StatusOK || !may(revision) {
		return fmt.Errorf("%s answers %d %q (%s)", url, a.Status, a.Body, a.Header.Get("Weir-Reason"))
	}
	return nil
}

// unlessNotFound is err, but for what is not there.
func unlessNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// unlessDone is err, but for what the end of the test brings about.
func unlessDone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func reasonOf(err error) metav1.StatusReason {
	if reason := apierrors.ReasonForError(err); reason != "" {
		return reason
	}
	return metav1.StatusReason(err.Error())
}
