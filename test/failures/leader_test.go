// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

const (
	kills = 6
	// perTerm is how many things are made, and as many deleted, while one replica leads.
	perTerm = 40
)

var seedFlag = flag.Uint64("seed", 0, "kill leaders at the moments of this seed; 0 takes another each time")

// TestLeaderKilled kills the leader of two replicas at random moments, while
// things come and go and somebody else writes them. Each is reconciled and
// finalised, by one replica at a time, and not again once its finalizer is gone.
func TestLeaderKilled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", seed)
	r := &rivals{
		ctx: ctx, t: t, random: rand.New(rand.NewPCG(seed, 0)),
		namespace: newNamespace(ctx, t, suite.System.Config), kubeconfig: writeKubeconfig(t),
		running: map[string]*exec.Cmd{}, uids: map[string]string{},
	}
	r.things = newThingClient(t, suite.System.Config, r.namespace)
	r.witness = newWitness(t, r.things)
	r.hasten()
	t.Cleanup(r.end)
	r.spawn()
	r.spawn()
	for term := range kills {
		r.killLeader(term)
	}
	r.finish()
}

// rivals are two replicas, and the things that they compete for.
type rivals struct {
	ctx        context.Context
	t          *testing.T
	random     *rand.Rand
	namespace  string
	kubeconfig string
	things     thingClient
	witness    *witness

	spawned int
	running map[string]*exec.Cmd
	output  output
	made    int
	uids    map[string]string // of all things that were ever made, by name
}

// hasten makes leases short.
func (r *rivals) hasten() {
	r.t.Helper()
	_, err := suite.System.Kube.CoreV1().ConfigMaps(r.namespace).Create(r.ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "config-leader-election"},
		Data:       map[string]string{"lease-duration": "3s", "renew-deadline": "2s", "retry-period": "500ms"},
	}, metav1.CreateOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rivals) spawn() {
	r.t.Helper()
	r.spawned++
	name := fmt.Sprintf("replica-%d", r.spawned)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+name, kubeconfigEnv+"="+r.kubeconfig,
		namespaceEnv+"="+r.namespace, witnessEnv+"="+r.witness.URL)
	cmd.Stderr = &r.output
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.running[name] = cmd
}

func (r *rivals) kill(name string) {
	cmd := r.running[name]
	delete(r.running, name)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	r.witness.killed(name)
}

// end kills who is left. What they printed is of interest if anything went
// wrong, and the race detector's word is wrong enough.
func (r *rivals) end() {
	for name := range r.running {
		r.kill(name)
	}
	printed := r.output.String()
	if strings.Contains(printed, "DATA RACE") {
		r.t.Error("there is a data race")
	}
	if r.t.Failed() {
		r.t.Logf("the replicas printed:\n%s", printed)
	}
}

// killLeader waits for the leader of a term later than the last, makes work
// for it, kills it in the midst, and has another take its place as a rival.
func (r *rivals) killLeader(term int) {
	r.t.Helper()
	var leader string
	await(r.ctx, r.t, "somebody leads", func(context.Context) (bool, error) {
		name, terms := r.witness.leads()
		leader = name
		return terms > term && r.running[name] != nil, fmt.Errorf("term %d of %q", terms, name)
	})
	moment := time.After(time.Duration(r.random.IntN(1500)) * time.Millisecond)
	worked := make(chan error, 1)
	go func() { worked <- r.work() }()
	<-moment
	r.kill(leader)
	r.spawn()
	if err := <-worked; err != nil {
		r.t.Fatal(err)
	}
}

// work makes things, disturbs them, and deletes as many others.
func (r *rivals) work() error {
	for range perTerm {
		name := fmt.Sprintf("thing-%d", r.made)
		r.made++
		if err := r.things.create(r.ctx, name, name); err != nil {
			return err
		}
		o, err := r.things.Get(r.ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		r.uids[name] = string(o.GetUID())
		if err := r.disturb(fmt.Sprintf("thing-%d", r.made-perTerm/2)); err != nil {
			return err
		}
	}
	return nil
}

// disturb deletes a thing, if it is there, and writes it before and after.
func (r *rivals) disturb(name string) error {
	if err := r.things.annotate(r.ctx, name, "before"); err != nil {
		return absentIsFine(err)
	}
	if err := r.delete(name); err != nil {
		return err
	}
	for _, noise := range []string{"1", "2", "3"} {
		if err := r.things.annotate(r.ctx, name, noise); err != nil {
			return absentIsFine(err)
		}
	}
	return nil
}

// delete deletes a thing as it is known. One without finalizer goes at once:
// nobody had seen it yet, and there is nothing to finalise.
func (r *rivals) delete(name string) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		o, err := r.things.Get(r.ctx, name, metav1.GetOptions{})
		if err != nil {
			return absentIsFine(err)
		}
		version := o.GetResourceVersion()
		err = r.things.Delete(r.ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &version}})
		if err == nil && len(o.GetFinalizers()) == 0 {
			delete(r.uids, name)
		}
		return err
	})
}

func absentIsFine(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// finish waits until what is left is reconciled, deletes it, and waits until
// all is gone.
func (r *rivals) finish() {
	r.t.Helper()
	await(r.ctx, r.t, "what was deleted is gone and the rest is reconciled", func(ctx context.Context) (bool, error) {
		all, err := r.things.all(ctx)
		if err != nil {
			return false, err
		}
		for _, o := range all {
			if o.DeletionTimestamp != nil || !o.done() {
				return false, fmt.Errorf("%s: deleted at %v, %+v", o.Name, o.DeletionTimestamp, o.Status)
			}
		}
		return true, nil
	})
	all, err := r.things.all(r.ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, o := range all {
		if err := r.disturb(o.Name); err != nil {
			r.t.Fatal(err)
		}
	}
	await(r.ctx, r.t, "all is gone", func(ctx context.Context) (bool, error) {
		all, err := r.things.all(ctx)
		return len(all) == 0 && err == nil, err
	})
	uids := make([]string, 0, len(r.uids))
	for _, uid := range r.uids {
		uids = append(uids, uid)
	}
	r.witness.check(r.t, uids)
}
