// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/api/config"
	"weir.dev/pkg/apis"
)

// TestScaleBounds: bounds are judged alike whenever they are written, on whatever kind.
func TestScaleBounds(t *testing.T) {
	limited := &config.Autoscaler{MaxScaleLimit: 5, MaxScale: 5}
	tests := map[string]struct {
		reason  string
		anns    map[string]string // keys without the prefix
		cluster *config.Autoscaler
		want    string // of errors, KEY/ for the path and the prefix
		warning string // the same
	}{
		"good":               {"in order", map[string]string{"min-scale": "1", "max-scale": "2"}, limited, "", ""},
		"empty":              {"it is no number, nor none at all", map[string]string{"min-scale": ""}, nil, "invalid value: : KEY/min-scale", ""},
		"empty greatest":     {"the same", map[string]string{"max-scale": ""}, limited, "invalid value: : KEY/max-scale", ""},
		"space":              {"it would be read by nobody", map[string]string{"min-scale": " 1"}, nil, "invalid value:  1: KEY/min-scale", ""},
		"contradiction":      {"nothing satisfies both", map[string]string{"min-scale": "3", "max-scale": "2"}, nil, "max-scale=2 is less than min-scale=3: KEY/max-scale, KEY/min-scale", ""},
		"in old spelling":    {"the same", map[string]string{"minScale": "3", "max-scale": "2"}, nil, "max-scale=2 is less than min-scale=3: KEY/max-scale, KEY/min-scale", ""},
		"no upper bound":     {"0 is none", map[string]string{"min-scale": "3", "max-scale": "0"}, nil, "", ""},
		"over the limit":     {"the operator bounds it", map[string]string{"max-scale": "6"}, limited, "expected 1 <= 6 <= 5: KEY/max-scale", ""},
		"over it, old":       {"in any spelling", map[string]string{"maxScale": "6"}, limited, "expected 1 <= 6 <= 5: KEY/max-scale", ""},
		"unlimited":          {"it is over any limit", map[string]string{"max-scale": "0"}, limited, "max-scale=0 (unlimited), must be less than 5: KEY/max-scale", ""},
		"initial zero":       {"the operator has to permit it", map[string]string{"initial-scale": "0"}, limited, "invalid value: 0: KEY/initial-scale=0 not allowed by cluster", ""},
		"under the limit":    {"an own least, the operator's greatest", map[string]string{"min-scale": "6"}, limited, "", "min-scale=6 is more than the cluster's max-scale=5, which counts: KEY/min-scale"},
		"under the least":    {"an own greatest, the operator's least", map[string]string{"max-scale": "2"}, &config.Autoscaler{MinScale: 3}, "", "max-scale=2 counts, it is less than the cluster's min-scale=3: KEY/max-scale"},
		"misspelt":           {"nobody reads it", map[string]string{"minscale": "3"}, nil, "", "unknown annotation, it has no effect: KEY/minscale"},
		"both own":           {"the operator's do not matter", map[string]string{"min-scale": "6", "max-scale": "7"}, &config.Autoscaler{MinScale: 8, MaxScale: 3}, "", ""},
		"unlimited, and low": {"0 is no greatest", map[string]string{"max-scale": "0"}, &config.Autoscaler{MinScale: 3}, "", ""},
	}
	for name, tc := range tests {
		anns := map[string]string{}
		for k, v := range tc.anns {
			anns["autoscaling.knative.dev/"+k] = v
		}
		ctx := config.ToContext(context.Background(), &config.Config{Autoscaler: tc.cluster})
		for kind, path := range map[string]string{"Service": "spec.template.metadata", "Configuration": "spec.template.metadata", "Revision": "metadata"} {
			good, bad := bounded(t, kind, nil), bounded(t, kind, anns)
			want := func(text string) string {
				return strings.ReplaceAll(text, "KEY", path+".annotations.autoscaling.knative.dev")
			}
			for when, ctx := range map[string]context.Context{"create": apis.WithinCreate(ctx), "update": apis.WithinUpdate(ctx, good)} {
				t.Run(name+"/"+kind+"/"+when, func(t *testing.T) {
					o := bad.DeepCopyObject().(stored)
					o.SetDefaults(ctx)
					got := o.Validate(ctx)
					if diff := cmp.Diff(want(tc.want), errorsOf(got)); diff != "" {
						t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
					}
					warnings := got.Filter(apis.WarningLevel).Error()
					if about := strings.Contains(warnings, "autoscaling.knative.dev"); about != (tc.warning != "") || !strings.Contains(warnings, want(tc.warning)) {
						t.Errorf("%s: want the warning %q, got %q", tc.reason, want(tc.warning), warnings)
					}
				})
			}
		}
	}
}

// bounded makes a defaulted object with annotations where scaling is told.
func bounded(t *testing.T, kind string, anns map[string]string) stored {
	t.Helper()
	var o stored
	switch kind {
	case "Service":
		s := object[Service](t, goodService)
		s.Spec.Template.Annotations, o = anns, s
	case "Configuration":
		c := object[Configuration](t, goodService)
		c.Spec.Template.Annotations, o = anns, c
	default:
		r := object[Revision](t, strings.Replace(goodRevision, "NAME", "hello-00001", 1))
		r.Annotations, o = anns, r
	}
	o.SetDefaults(apis.WithinCreate(context.Background()))
	return o
}

// TestUnreadAnnotations: an annotation where nobody reads it is no silence, and the controllers' are none of it.
func TestUnreadAnnotations(t *testing.T) {
	const elsewhere, here = "spec.template.metadata.annotations.", "metadata.annotations."
	tests := map[string]struct {
		reason           string
		object, template map[string]string
		want             string // error or warning; "" is neither
	}{
		"own, in place":      {"each is read", map[string]string{"weir.dev/retain-revisions": "5"}, map[string]string{"weir.dev/drain-timeout": "5s", "serving.knative.dev/no-gc": "true"}, ""},
		"foreign":            {"they are other people's", map[string]string{"example.com/x": "y"}, map[string]string{"client.knative.dev/user-image": "x"}, ""},
		"template's":         {"it works on templates", map[string]string{"weir.dev/drain-timeout": "5s"}, nil, `this annotation has no effect here: put it under "spec.template.metadata.annotations": ` + here + "weir.dev/drain-timeout"},
		"object's":           {"it works on the object", nil, map[string]string{"serving.knative.dev/rolloutDuration": "5s"}, `this annotation has no effect here: put it under "metadata.annotations": ` + elsewhere + "serving.knative.dev/rolloutDuration"},
		"retain on template": {"a Revision does not decide about others", nil, map[string]string{"weir.dev/retain-revisions": "5"}, `put it under "metadata.annotations"`},
		"misspelt":           {"nobody reads it", map[string]string{"serving.knative.dev/rollout-duraton": "5s"}, nil, "unknown annotation, it has no effect: " + here + "serving.knative.dev/rollout-duraton"},
		"misspelt, ours":     {"the same", nil, map[string]string{"weir.dev/drain": "5s"}, "unknown annotation, it has no effect: " + elsewhere + "weir.dev/drain"},
		"networking":         {"routes have it by another name", map[string]string{"networking.knative.dev/ingressClass": "x"}, nil, "unknown annotation, it has no effect: " + here + "networking.knative.dev/ingressClass"},
		"sidecar":            {"there is none", nil, map[string]string{"features.knative.dev/http-full-duplex": "enabled"}, "there is no sidecar: " + elsewhere + "features.knative.dev/http-full-duplex"},
		"retain none":        {"a number", map[string]string{"weir.dev/retain-revisions": "0"}, nil, ""},
		"retain all":         {"the word for it", map[string]string{"weir.dev/retain-revisions": "all"}, nil, ""},
		"retain negative":    {"one cannot keep less than nothing", map[string]string{"weir.dev/retain-revisions": "-1"}, nil, "invalid value: -1: " + here + "weir.dev/retain-revisions\n" + `must be a number or "all"`},
		"retain nothing":     {"it says nothing", map[string]string{"weir.dev/retain-revisions": ""}, nil, "invalid value: : " + here + "weir.dev/retain-revisions"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := object[Service](t, goodService)
			s.Annotations, s.Spec.Template.Annotations = tc.object, tc.template
			s.SetDefaults(apis.WithinCreate(context.Background()))
			got := s.Validate(apis.WithinCreate(context.Background()))
			text := got.Error()
			if !strings.Contains(text, tc.want) || (tc.want == "" && strings.Contains(text, "annotation")) {
				t.Errorf("%s: got %q, want %q", tc.reason, text, tc.want)
			}
			s.OwnerReferences = []metav1.OwnerReference{{Kind: "X"}}
			if text := s.Validate(apis.WithinCreate(context.Background())).Filter(apis.WarningLevel).Error(); strings.Contains(text, "annotation") {
				t.Errorf("nobody is there to be warned: %q", text)
			}
		})
	}
}
