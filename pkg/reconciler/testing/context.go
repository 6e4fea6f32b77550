// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	poll "k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	logtesting "weir.dev/pkg/logging/testing"
)

// eventBuffer is more events than a test makes.
const eventBuffer = 1000

// SetupFakeContext returns a context with a test logger, an event recorder and
// a set of the fakes that the test links, and the set's informers. What the set
// is to find in its context (selectors, clients with objects) is put there by fs.
func SetupFakeContext(t testing.TB, fs ...func(context.Context) context.Context) (context.Context, []controller.Informer) {
	ctx, _, informers := SetupFakeContextWithCancel(t, fs...)
	return ctx, informers
}

// SetupFakeContextWithCancel is SetupFakeContext with an end.
func SetupFakeContextWithCancel(t testing.TB, fs ...func(context.Context) context.Context) (context.Context, context.CancelFunc, []controller.Informer) {
	ctx, cancel := context.WithCancel(logtesting.TestContextWithLogger(t))
	t.Cleanup(cancel)
	ctx = controller.WithEventRecorder(ctx, record.NewFakeRecorder(eventBuffer))
	for _, f := range fs {
		ctx = f(ctx)
	}
	ctx, informers := injection.Fake.SetupInformers(ctx, &rest.Config{})
	return ctx, cancel, informers
}

// RunAndSyncInformers starts the informers and returns, once they have synced,
// a function that waits for their end after that of ctx.
//
// A fake client forgets what happens between an informer's list and its watch.
// So this waits for the watches of the set of ctx, too: nothing that a test
// does afterwards is missed.
func RunAndSyncInformers(ctx context.Context, informers ...controller.Informer) (func(), error) {
	wait, err := controller.RunInformers(ctx.Done(), informers...)
	if err != nil {
		return wait, err
	}
	clients := injection.Fake.FetchAllClients(ctx)
	want := len(injection.Watches(ctx))
	err = poll.PollUntilContextCancel(ctx, time.Millisecond, true, func(context.Context) (bool, error) {
		return watches(clients) >= want, nil
	})
	return wait, err
}

func watches(clients []any) int {
	n := 0
	for _, client := range clients {
		recorder, ok := client.(ActionRecorder)
		if !ok {
			continue
		}
		for _, action := range recorder.Actions() {
			if action.GetVerb() == "watch" {
				n++
			}
		}
	}
	return n
}

// KeyOrDie is the key of an object; it panics on what has none.
func KeyOrDie(obj metav1.Object) string {
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		panic(err)
	}
	return key
}
