// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"weir.dev/pkg/apis/duck/ducktypes"
)

// PodSpecable is a template of pods, as Deployments, Jobs and many others have
// one.
// +genduck
type PodSpecable corev1.PodTemplateSpec

// WithPod is a resource with a template of pods.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type WithPod struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec holds the template.
	Spec WithPodSpec `json:"spec,omitempty"`
}

// WithPodSpec is the part of a spec that holds the template.
type WithPodSpec struct {
	// Template of the pods.
	Template PodSpecable `json:"template,omitempty"`
}

// WithPodList is a list of WithPod.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type WithPodList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	// Items are the resources.
	Items []WithPod `json:"items"`
}

// Pod is a resource whose spec is that of a pod.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Pod struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the pod.
	Spec corev1.PodSpec `json:"spec,omitempty"`
}

// PodList is a list of Pod.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type PodList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	// Items are the resources.
	Items []Pod `json:"items"`
}

// CronJob is a resource whose pods' template lies in a job's template.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type CronJob batchv1.CronJob

// CronJobList is a list of CronJob.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type CronJobList batchv1.CronJobList

var (
	_ ducktypes.Implementable = (*PodSpecable)(nil)
	_ ducktypes.Populatable   = (*WithPod)(nil)
	_ ducktypes.Implementable = (*Pod)(nil)
	_ ducktypes.Populatable   = (*Pod)(nil)
	_ ducktypes.Implementable = (*CronJob)(nil)
	_ ducktypes.Populatable   = (*CronJob)(nil)
)

// GetFullType returns the resource with this shape.
func (*PodSpecable) GetFullType() ducktypes.Populatable { return &WithPod{} }

// GetListType returns an empty list.
func (*WithPod) GetListType() runtime.Object { return &WithPodList{} }

// Populate sets every field of the shape.
func (t *WithPod) Populate() {
	t.Spec.Template = PodSpecable{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "sample"}},
		Spec:       samplePodSpec(),
	}
}

// GetFullType returns the resource with this shape.
func (*Pod) GetFullType() ducktypes.Populatable { return &Pod{} }

// GetListType returns an empty list.
func (*Pod) GetListType() runtime.Object { return &PodList{} }

// Populate sets every field of the shape.
func (t *Pod) Populate() { t.Spec = samplePodSpec() }

// GetFullType returns the resource with this shape.
func (*CronJob) GetFullType() ducktypes.Populatable { return &CronJob{} }

// GetListType returns an empty list.
func (*CronJob) GetListType() runtime.Object { return &CronJobList{} }

// Populate sets every field of the shape.
func (t *CronJob) Populate() {
	t.Spec = batchv1.CronJobSpec{JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
		Template: corev1.PodTemplateSpec{Spec: samplePodSpec()},
	}}}
}

func samplePodSpec() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "sample", Image: "example.com/sample"}}}
}
