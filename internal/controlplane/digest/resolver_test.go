// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package digest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func TestResolver(t *testing.T) {
	errGone := errors.New("gone")
	lookup := LookupFunc(func(ctx context.Context, image string, as Identity) (string, error) {
		switch {
		case as.Namespace != "ns":
			return "", errors.New("wrong identity")
		case image == "slow":
			<-ctx.Done()
			return "", ctx.Err()
		case image == "gone":
			return "", errGone
		}
		time.Sleep(time.Second)
		return image + "@" + sha, nil
	})
	synctest.Test(t, func(t *testing.T) {
		r := NewResolver(lookup)
		done := make(chan types.UID, 10)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Run(ctx) }()

		request := func(uid types.UID, images ...string) Request {
			return Request{
				Done: func() { done <- uid }, UID: uid,
				Images: images, As: Identity{Namespace: "ns"}, Timeout: 10 * time.Second,
			}
		}
		if _, ok := r.Resolve(request("good", "a", "gone")); ok {
			t.Error("an answer without asking")
		}
		if _, ok := r.Resolve(request("good", "a", "gone")); ok {
			t.Error("an answer before it is there")
		}
		if got := <-done; got != "good" {
			t.Errorf("the answer to %q is there", got)
		}
		got, ok := r.Resolve(request("good"))
		if !ok || got["a"].Digest != "a@"+sha || !errors.Is(got["gone"].Err, errGone) {
			t.Errorf("got %v, %v", got, ok)
		}

		began := time.Now()
		r.Resolve(request("slow", "slow", "b"))
		<-done
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("the timeout of 10s ended after %s", took)
		}
		got, _ = r.Resolve(request("slow"))
		if !errors.Is(got["slow"].Err, context.DeadlineExceeded) || !errors.Is(got["b"].Err, errUnfinished) {
			t.Errorf("after the timeout: got %v", got)
		}

		r.Forget("good")
		if _, ok := r.Resolve(request("good", "a")); ok {
			t.Error("a forgotten answer is still there")
		}
		<-done
		select {
		case key := <-done:
			t.Errorf("one request was answered twice: %v", key)
		default:
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Who asks the same at the same time gets the same answer; who is somebody else asks for himself.
func TestRegistriesAreAskedOnce(t *testing.T) {
	var asked atomic.Int32
	lookup := LookupFunc(func(context.Context, string, Identity) (string, error) {
		asked.Add(1)
		time.Sleep(time.Second)
		return "a@" + sha, nil
	})
	synctest.Test(t, func(t *testing.T) {
		r := NewResolver(lookup)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Run(ctx) }()
		for uid, account := range map[types.UID]string{"1": "", "2": "", "3": "", "4": "other"} {
			r.Resolve(Request{Done: func() {}, UID: uid, Images: []string{"a"}, As: Identity{Namespace: "ns", ServiceAccount: account}, Timeout: 10 * time.Second})
		}
		time.Sleep(2 * time.Second)
		for _, uid := range []types.UID{"1", "2", "3", "4"} {
			if got, ok := r.Resolve(Request{UID: uid}); !ok || got["a"].Digest != "a@"+sha {
				t.Errorf("request %s got %v", uid, got)
			}
		}
		if n := asked.Load(); n != 2 {
			t.Errorf("the registry was asked %d times, want once for each identity", n)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Who joins a look-up whose time is almost over has all of his own.
func TestTheTimeOfAnotherIsNotOurs(t *testing.T) {
	lookup := LookupFunc(func(ctx context.Context, _ string, _ Identity) (string, error) {
		select {
		case <-time.After(5 * time.Second):
			return "a@" + sha, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := NewResolver(lookup)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Run(ctx) }()
		ask := func(uid types.UID, timeout time.Duration) {
			r.Resolve(Request{Done: func() {}, UID: uid, Images: []string{"a"}, As: Identity{Namespace: "ns"}, Timeout: timeout})
		}
		ask("hasty", 2*time.Second)
		time.Sleep(time.Second)
		ask("patient", 10*time.Second)
		time.Sleep(10 * time.Second)
		hasty, _ := r.Resolve(Request{UID: "hasty"})
		patient, _ := r.Resolve(Request{UID: "patient"})
		if !errors.Is(hasty["a"].Err, context.DeadlineExceeded) || patient["a"].Digest != "a@"+sha {
			t.Errorf("got %v and %v", hasty, patient)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
