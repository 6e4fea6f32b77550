// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"weir.dev/internal/controlplane/config"
	"weir.dev/pkg/apis"
)

const rehearsed = `{metadata: {name: app, namespace: ns}, spec: {template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}`

func TestDryRuns(t *testing.T) {
	dry := apis.WithDryRun(apis.WithinCreate(context.Background()))
	tests := map[string]struct {
		reason string
		ctx    context.Context
		labels map[string]string
		answer error
		want   string // the refusal
		pods   int    // are created
	}{
		"taken":    {"nobody objects", dry, nil, nil, "", 1},
		"refused":  {"the message is passed on, with the field", dry, nil, errors.New("too many"), "dry run failed with too many: spec.template", 1},
		"cannot":   {"a webhook that cannot be asked is no refusal", dry, nil, errors.New(`admission webhook "x" does not support dry run`), "", 1},
		"in truth": {"the pods will be made anyway", apis.WithinCreate(context.Background()), nil, errors.New("no"), "", 0},
		"child":    {"the Service was asked already", dry, map[string]string{"serving.knative.dev/service": "app"}, errors.New("no"), "", 0},
		"status":   {"no pod follows from it", apis.WithDryRun(apis.WithinSubResourceUpdate(context.Background(), nil, "status")), nil, errors.New("no"), "", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			var pods []*corev1.Pod
			client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
				pod := action.(clienttesting.CreateAction).GetObject().(*corev1.Pod)
				pods = append(pods, pod)
				return true, pod, tc.answer
			})
			obj := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(rehearsed), &obj.Object); err != nil {
				t.Fatal(err)
			}
			obj.SetLabels(tc.labels)
			r := rehearsal{pods: client.CoreV1(), settings: func() *config.Deployment { return config.Default().Deployment }}
			got := ""
			if err := r.try(tc.ctx, obj); err != nil {
				got = err.Error()
			}
			if got != tc.want || len(pods) != tc.pods {
				t.Errorf("%s: %q after %d pods, want %q after %d", tc.reason, got, len(pods), tc.want, tc.pods)
			}
			for _, pod := range pods {
				if pod.Name != "" || pod.GenerateName != "dry-run-validation" || pod.Namespace != "ns" || pod.Labels["a"] != "b" ||
					pod.Labels["serving.knative.dev/revision"] != "app-00001" || len(pod.OwnerReferences) > 0 {
					t.Errorf("the pod is %+v", pod.ObjectMeta)
				}
			}
		})
	}
}
