// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package defaulting

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/webhook/resourcesemantics"
)

// setUserInfo writes who created an object and who changed its spec last.
// Objects that others own carry what their owners carry, and a status has no
// author.
func setUserInfo(ctx context.Context, req *admissionv1.AdmissionRequest, obj, old resourcesemantics.GenericCRD) {
	spec, ok := obj.(apis.HasSpec)
	if !ok || req.SubResource != "" {
		return
	}
	meta, ok := obj.(metav1.Object)
	user := apis.GetUserInfo(ctx)
	if !ok || user == nil || len(meta.GetOwnerReferences()) > 0 {
		return
	}
	annotations := map[string]string{}
	for k, v := range meta.GetAnnotations() {
		annotations[k] = v
	}
	creator := req.Resource.Group + apis.CreatorAnnotationSuffix
	updater := req.Resource.Group + apis.UpdaterAnnotationSuffix

	switch before, isUpdate := old.(apis.HasSpec); {
	case apis.IsInCreate(ctx):
		annotations[creator], annotations[updater] = user.Username, user.Username
	case isUpdate && !equality.Semantic.DeepEqual(before.GetUntypedSpec(), spec.GetUntypedSpec()):
		annotations[updater] = user.Username
	default:
		return
	}
	meta.SetAnnotations(annotations)
}
