// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"weir.dev/pkg/apis"
)

// words are strings that mean something somewhere, so that random objects get past the first check.
var words = []string{
	"", "a", "b", "hello", "hello-one", "h2c", "http1", "http", "TCP", "UDP", "/data", "/", "Always", "File", "enabled", "true",
	"weir.local/hello", "example.com/app:v1", "127.0.0.1:5000/a@sha256:0", "user-container", "queue-proxy", "PORT", "K_SERVICE",
	"ALL", "NET_BIND_SERVICE", "RuntimeDefault", "Unconfined", "Memory", "0", "1", "-1", "10m", "1.5", "2s", "Ä", "a b", "A_B",
	"autoscaling.knative.dev/min-scale", "autoscaling.knative.dev/max-scale", "autoscaling.knative.dev/metric",
	"serving.knative.dev/rollout-duration", "networking.knative.dev/visibility", "weir.dev/follow-tags", "weir.dev/drain-timeout",
}

// fillers make values of types whose fields cannot be filled one by one.
func fillers() []any {
	return []any{
		func(s *string, c randfill.Continue) { *s = words[c.Intn(len(words))] },
		func(n *int32, c randfill.Continue) { *n = int32(c.Intn(5)) - 1 },
		func(n *int64, c randfill.Continue) { *n = int64(c.Intn(103)) - 1 },
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewMilliQuantity(c.Int63n(1<<20), resource.DecimalSI)
		},
		func(v *intstr.IntOrString, c randfill.Continue) {
			if *v = intstr.FromInt32(int32(c.Intn(70000) - 1)); c.Bool() {
				*v = intstr.FromString(words[c.Intn(len(words))])
			}
		},
		func(t *metav1.Time, c randfill.Continue) { t.Time = time.Unix(c.Int63n(1<<32), 0).UTC() },
		func(t *apis.VolatileTime, c randfill.Continue) { c.Fill(&t.Inner) },
		func(u *apis.URL, c randfill.Continue) { *u = *apis.HTTP(words[1+c.Intn(3)]) },
		func(f *metav1.FieldsV1, _ randfill.Continue) { f.SetRawString("{}") },
	}
}

// FuzzFilled does with random objects what FuzzAdmission does with random bytes: it comes to all fields, of which bytes know only
// those that somebody wrote into a seed.
func FuzzFilled(f *testing.F) {
	for seed := range int64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed int64) {
		fill := randfill.NewWithSeed(seed).NilChance(0.7).NumElements(0, 2).Funcs(fillers()...)
		for _, o := range kindsToFuzz() {
			fill.Fill(o)
			o.SetName("hello")
			admit(t, o)
		}
		update(t, fill)
	})
}

// update writes one random Service over another one, under a revision name that stays: what the first one was defaulted to is
// looked at then, and defaults are set once and for all as ever.
func update(t *testing.T, fill *randfill.Filler) {
	t.Helper()
	stored, given := &Service{}, &Service{}
	for _, svc := range []*Service{stored, given} {
		fill.Fill(svc)
		svc.Name, svc.Spec.Template.Name = "hello", "hello-one"
	}
	ctx := apis.WithinUpdate(context.Background(), stored)
	given.SetDefaults(ctx)
	again := given.DeepCopy()
	again.SetDefaults(ctx)
	if !equality.Semantic.DeepEqual(given, again) {
		t.Errorf("defaults set twice in an update differ:\n%s\n%s", encode(t, given), encode(t, again))
	}
}
