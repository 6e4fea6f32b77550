// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"
	"weir.dev/pkg/apis"
)

func isReservedPath(p string) bool { return p == "/" || p == "/dev" || p == "/dev/log" }

func (c container) validateMounts() *apis.FieldError {
	var errs *apis.FieldError
	seen := map[string]bool{}
	for i := range c.VolumeMounts {
		m := &c.VolumeMounts[i]
		e := c.validateMount(m)
		if m.MountPath != "" {
			if clean := path.Clean(m.MountPath); seen[clean] {
				e = e.Also(apis.ErrGeneric(fmt.Sprintf("%q must be unique", m.MountPath), "mountPath"))
			} else {
				seen[clean] = true
			}
		}
		errs = errs.Also(e.ViaFieldIndex("volumeMounts", i))
	}
	return errs
}

func (c container) validateMount(m *corev1.VolumeMount) *apis.FieldError {
	allowed := []string{"name", "readOnly", "mountPath", "subPath"}
	if mustBe(c.features.PodSpecVolumesMountPropagation) {
		allowed = append(allowed, "mountPropagation")
	}
	errs := only(m, allowed...).Also(validateMountPath(m.MountPath))
	if p := m.MountPropagation; p != nil && *p != corev1.MountPropagationNone && *p != corev1.MountPropagationHostToContainer {
		errs = errs.Also(apis.ErrInvalidValue(*p, "mountPropagation"))
	}
	for i := range c.pod.Volumes {
		if c.pod.Volumes[i].Name == m.Name {
			return errs.Also(validateReadOnly(m, &c.pod.Volumes[i]))
		}
	}
	return errs.Also(&apis.FieldError{
		Message: "volumeMount has no matching volume",
		Paths:   []string{"name"},
	})
}

func validateMountPath(p string) *apis.FieldError {
	switch {
	case p == "":
		return apis.ErrMissingField("mountPath")
	case isReservedPath(path.Clean(p)):
		return apis.ErrGeneric(fmt.Sprintf("mountPath %q is a reserved path", path.Clean(p)), "mountPath")
	case !path.IsAbs(p):
		return apis.ErrInvalidValue(p, "mountPath")
	default:
		return nil
	}
}

// writable says whether a container may write to the volume.
func writable(v *corev1.Volume) bool {
	return v.EmptyDir != nil || v.PersistentVolumeClaim != nil || v.Ephemeral != nil
}

func validateReadOnly(m *corev1.VolumeMount, v *corev1.Volume) *apis.FieldError {
	switch {
	case m.ReadOnly:
		return nil
	case !writable(v):
		return apis.ErrGeneric("volume mount should be readOnly for this type of volume", "readOnly")
	case v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ReadOnly:
		return apis.ErrGeneric("volume is readOnly but volume mount is not", "readOnly")
	default:
		return nil
	}
}
