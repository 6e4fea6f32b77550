// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package psbinding_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"weir.dev/pkg/apis/duck"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/tracker"
	"weir.dev/pkg/webhook/psbinding"
)

func TestMain(m *testing.M) {
	// A watch that is stopped while an event is on its way leaves this behind; it is the informer's, not ours.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop"))
}

var tagKind = schema.GroupVersionKind{Group: "test.weir.dev", Version: "v1", Kind: "Tag"}

// tag is a binding that sets an environment variable, to what the context says.
type tag struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Subject           tracker.Reference `json:"subject"`
	Status            tagStatus         `json:"status,omitempty"`
}

type tagStatus struct {
	Ready              string `json:"ready,omitempty"`
	Message            string `json:"message,omitempty"`
	ObservedGeneration int64  `json:"observedGeneration,omitempty"`
}

var _ psbinding.Bindable = (*tag)(nil)

func (s *tagStatus) InitializeConditions() {
	if s.Ready == "" {
		s.Ready = "Unknown"
	}
}
func (s *tagStatus) MarkBindingUnavailable(reason, message string) {
	s.Ready, s.Message = reason, message
}
func (s *tagStatus) MarkBindingAvailable()          { s.Ready, s.Message = "True", "" }
func (s *tagStatus) SetObservedGeneration(of int64) { s.ObservedGeneration = of }

func (t *tag) GetSubject() tracker.Reference                 { return t.Subject }
func (t *tag) GetBindingStatus() duck.BindableStatus         { return &t.Status }
func (t *tag) GetGroupVersionKind() schema.GroupVersionKind  { return tagKind }
func (t *tag) GetObjectMeta() metav1.Object                  { return t }
func (t *tag) GroupVersionKind() schema.GroupVersionKind     { return t.TypeMeta.GroupVersionKind() }
func (t *tag) SetGroupVersionKind(k schema.GroupVersionKind) { t.TypeMeta.SetGroupVersionKind(k) }

func (t *tag) DeepCopyObject() runtime.Object {
	out := *t
	t.DeepCopyInto(&out.ObjectMeta)
	t.Subject.DeepCopyInto(&out.Subject)
	return &out
}

type valueKey struct{}

// wrap gives Do of a binding its value; one that is called "broken" has none.
func wrap(ctx context.Context, b psbinding.Bindable) (context.Context, error) {
	if b.GetName() == "broken" {
		return nil, errors.New("it is broken")
	}
	return context.WithValue(ctx, valueKey{}, "by "+b.GetName()), nil
}

func (t *tag) Do(ctx context.Context, subject *duckv1.WithPod) {
	value, _ := ctx.Value(valueKey{}).(string)
	t.Undo(ctx, subject)
	for i := range subject.Spec.Template.Spec.Containers {
		c := &subject.Spec.Template.Spec.Containers[i]
		c.Env = append(c.Env, corev1.EnvVar{Name: t.Name, Value: value})
	}
}

func (t *tag) Undo(_ context.Context, subject *duckv1.WithPod) {
	for i := range subject.Spec.Template.Spec.Containers {
		c := &subject.Spec.Template.Spec.Containers[i]
		c.Env = slices.DeleteFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == t.Name })
		if len(c.Env) == 0 {
			c.Env = nil
		}
	}
}

const ns = "there"

// newTag is a binding of the Deployment "app" unless changed.
func newTag(name string, changes ...func(*tag)) *tag {
	t := &tag{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Generation: 3},
		Subject:    tracker.Reference{APIVersion: "apps/v1", Kind: "Deployment", Name: "app"},
	}
	for _, change := range changes {
		change(t)
	}
	return t
}

func selecting(labels map[string]string) func(*tag) {
	return func(t *tag) {
		t.Subject.Name, t.Subject.Selector = "", &metav1.LabelSelector{MatchLabels: labels}
	}
}

func deleted(t *tag) {
	now := metav1.Now()
	t.DeletionTimestamp = &now
}

func finalized(t *tag) { t.Finalizers = []string{"other", "tags.test.weir.dev"} }

func deployment(name string, labels map[string]string, env ...corev1.EnvVar) *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i", Env: env}}},
		}},
	}
}
