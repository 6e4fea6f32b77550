// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package digest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

// Identity is on whose behalf an image is looked up: what its pods would pull with.
type Identity struct {
	Namespace, ServiceAccount string
	PullSecrets               []string
}

// IdentityOf is what pods of spec in namespace pull with.
func IdentityOf(namespace string, spec *corev1.PodSpec) Identity {
	as := Identity{Namespace: namespace, ServiceAccount: spec.ServiceAccountName}
	for _, ref := range spec.ImagePullSecrets {
		as.PullSecrets = append(as.PullSecrets, ref.Name)
	}
	return as
}

// Lookup asks a registry for the digest form of a tagged image.
type Lookup interface {
	Digest(ctx context.Context, image string, as Identity) (string, error)
}

// LookupFunc is a Lookup made of one function.
type LookupFunc func(ctx context.Context, image string, as Identity) (string, error)

// Digest implements Lookup.
func (f LookupFunc) Digest(ctx context.Context, image string, as Identity) (string, error) {
	return f(ctx, image, as)
}

// Request asks for the digests of the images of one object.
type Request struct {
	// Done is called when the answer is there; required.
	Done func()
	// UID is the object's that asks.
	UID    types.UID
	Images []string
	As     Identity
	// Timeout bounds the whole request, counted from when it is first made.
	Timeout time.Duration
}

// Result is what was found out about one image: a digest form or an error.
type Result struct {
	Digest string
	Err    error
}

// Resolver looks images up off the reconcilers' path. All methods may be called concurrently.
type Resolver struct {
	lookup  Lookup
	workers int
	queue   workqueue.TypedInterface[types.UID]
	asking  singleflight.Group

	mu   sync.Mutex
	jobs map[types.UID]*job
}

type job struct {
	Request
	deadline time.Time
	// results are nil until all are there.
	results map[string]Result
}

// errUnfinished is the result of an image whose turn did not come.
var errUnfinished = errors.New("the registry was not asked in time")

// NewResolver returns a resolver that asks lookup, several at a time.
func NewResolver(lookup Lookup) *Resolver {
	return &Resolver{
		lookup:  lookup,
		workers: 32,
		queue:   workqueue.NewTyped[types.UID](),
		jobs:    map[types.UID]*job{},
	}
}

// Run works until ctx is done; it returns after all its goroutines ended.
func (r *Resolver) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	for range r.workers {
		wg.Go(func() { r.work(ctx) })
	}
	<-ctx.Done()
	r.queue.ShutDown()
	wg.Wait()
	return nil
}

// Resolve returns the results of req by image, or false while they are not there; then its Done is called later. Repeated calls
// with the same UID are one request.
func (r *Resolver) Resolve(req Request) (map[string]Result, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	j, ok := r.jobs[req.UID]
	if !ok {
		r.sweep()
		j = &job{Request: req, deadline: time.Now().Add(req.Timeout)}
		r.jobs[req.UID] = j
		r.queue.Add(req.UID)
	}
	return j.results, j.results != nil
}

// keep is how long an answer waits for somebody to take it.
const keep = 10 * time.Minute

// sweep drops answers that nobody came for: who asked is gone.
func (r *Resolver) sweep() {
	for uid, j := range r.jobs {
		if j.results != nil && time.Since(j.deadline) > keep {
			delete(r.jobs, uid)
		}
	}
}

// Forget drops the answer for an object that needs it no more.
func (r *Resolver) Forget(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.jobs, uid)
}

func (r *Resolver) work(ctx context.Context) {
	for {
		uid, stop := r.queue.Get()
		if stop {
			return
		}
		r.answer(ctx, uid)
		r.queue.Done(uid)
	}
}

// answer looks up all images of one request.
func (r *Resolver) answer(ctx context.Context, uid types.UID) {
	r.mu.Lock()
	j, ok := r.jobs[uid]
	r.mu.Unlock()
	if !ok {
		return
	}
	ctx, cancel := context.WithDeadline(ctx, j.deadline)
	defer cancel()
	results := make(map[string]Result, len(j.Images))
	for _, image := range j.Images {
		results[image] = r.ask(ctx, image, j.As)
	}
	r.mu.Lock()
	j.results = results
	r.mu.Unlock()
	j.Done()
}

// ask asks for one image. Who asks the same at the same time, for the same identity, gets the same answer: registries count
// requests. Answers are not kept, or a tag that was just pushed would mean what it meant before.
func (r *Resolver) ask(ctx context.Context, image string, as Identity) Result {
	for ctx.Err() == nil {
		answer, err, _ := r.asking.Do(fmt.Sprint(image, as), func() (any, error) {
			return r.lookup.Digest(ctx, image, as)
		})
		if isOver(err) && ctx.Err() == nil {
			continue // the time of whoever asked first was over, ours is not
		}
		d, _ := answer.(string)
		return Result{Digest: d, Err: err}
	}
	return Result{Err: errUnfinished}
}

func isOver(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
