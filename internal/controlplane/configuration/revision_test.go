// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/kmeta"
)

func TestTemplateMetadata(t *testing.T) {
	grace := int64(5)
	tests := map[string]struct {
		reason   string
		template metav1.ObjectMeta
		want     metav1.ObjectMeta // labels and annotations: those that must be there
	}{
		"what counts": {
			reason: "the user names the Revision, labels it and annotates it",
			template: metav1.ObjectMeta{
				Name: "app-mine", Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"},
			},
			want: metav1.ObjectMeta{
				Name: "app-mine", Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"},
			},
		},
		"what does not": {
			reason: "a finalizer that nobody removes would keep the Revision forever, a foreign owner would take it along",
			template: metav1.ObjectMeta{
				Finalizers: []string{"example.com/forever"}, GenerateName: "other-", Namespace: "elsewhere",
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "x", UID: "y"}},
				ResourceVersion: "7", UID: "z", Generation: 9, CreationTimestamp: metav1.Now(),
				DeletionTimestamp: &metav1.Time{Time: time.Unix(1, 0)}, DeletionGracePeriodSeconds: &grace,
				ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
			},
			want: metav1.ObjectMeta{Name: "app-00003"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			config := &v1.Configuration{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: "ns", UID: "u", Generation: 3}}
			config.Spec.Template.ObjectMeta = tc.template
			got := makeRevision(config, time.Unix(1, 0)).ObjectMeta
			for key, value := range tc.want.Labels {
				if got.Labels[key] != value {
					t.Errorf("%s: label %s is %q", tc.reason, key, got.Labels[key])
				}
			}
			for key, value := range tc.want.Annotations {
				if got.Annotations[key] != value {
					t.Errorf("%s: annotation %s is %q", tc.reason, key, got.Annotations[key])
				}
			}
			want := metav1.ObjectMeta{
				Name: tc.want.Name, Namespace: "ns", OwnerReferences: []metav1.OwnerReference{*kmeta.NewControllerRef(config)},
			}
			got.Labels, got.Annotations = nil, nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
