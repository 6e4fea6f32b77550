// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"weir.dev/api/config"
	"weir.dev/pkg/apis"
)

func validateVolumes(ps *corev1.PodSpec, f *config.Features) *apis.FieldError {
	var errs *apis.FieldError
	mounted := mountedVolumes(ps)
	seen := map[string]bool{}
	for i := range ps.Volumes {
		v := &ps.Volumes[i]
		e := validateVolume(v, f)
		if seen[v.Name] {
			e = e.Also(apis.ErrGeneric(fmt.Sprintf("duplicate volume name %q", v.Name), "name"))
		}
		if !mounted[v.Name] {
			e = e.Also(apis.ErrGeneric(fmt.Sprintf("volume with name %q not mounted", v.Name), "name"))
		}
		seen[v.Name] = true
		errs = errs.Also(e.ViaFieldIndex("volumes", i))
	}
	return errs
}

// mountedVolumes are the names that some container mounts, init containers
// too.
func mountedVolumes(ps *corev1.PodSpec) map[string]bool {
	out := map[string]bool{}
	for _, c := range slices.Concat(ps.Containers, ps.InitContainers) {
		for _, m := range c.VolumeMounts {
			out[m.Name] = true
		}
	}
	return out
}

func volumeSources(f *config.Features) []string {
	sources := []string{"secret", "configMap", "projected"}
	for _, g := range []gate{
		{"emptyDir", f.PodSpecVolumesEmptyDir},
		{"persistentVolumeClaim", f.PodSpecPersistentVolumeClaim},
		{"hostPath", f.PodSpecVolumesHostPath},
		{"csi", f.PodSpecVolumesCSI},
		{"ephemeral", f.PodSpecVolumesEphemeral},
		{"image", f.PodSpecVolumesImage},
	} {
		if mustBe(g.flag) {
			sources = append(sources, g.field)
		}
	}
	return sources
}

func validateVolume(v *corev1.Volume, f *config.Features) *apis.FieldError {
	var errs *apis.FieldError
	if v.Name == "" {
		errs = errs.Also(apis.ErrMissingField("name"))
	} else if msgs := validation.IsDNS1123Label(v.Name); len(msgs) > 0 {
		errs = errs.Also(apis.ErrInvalidValue(v.Name, "name", joined(msgs)))
	}
	sources := volumeSources(f)
	if e := only(&v.VolumeSource, sources...); e != nil {
		return errs.Also(e)
	}
	return errs.Also(exactlyOne(setFields(&v.VolumeSource), sources...)).Also(validateSource(v, f))
}

func validateSource(v *corev1.Volume, f *config.Features) *apis.FieldError {
	var errs *apis.FieldError
	if s := v.Secret; s != nil {
		errs = errs.Also(required("secretName", s.SecretName).Also(validateItems(s.Items)).ViaField("secret"))
	}
	if s := v.ConfigMap; s != nil {
		errs = errs.Also(required("name", s.Name).Also(validateItems(s.Items)).ViaField("configMap"))
	}
	if s := v.Projected; s != nil {
		errs = errs.Also(validateProjected(s).ViaField("projected"))
	}
	if s := v.EmptyDir; s != nil {
		errs = errs.Also(validateEmptyDir(s).ViaField("emptyDir"))
	}
	if s := v.PersistentVolumeClaim; s != nil {
		if !s.ReadOnly && !mustBe(f.PodSpecPersistentVolumeWrite) {
			errs = errs.Also(apis.ErrGeneric(
				"Persistent volume write support is disabled, but found a claim that is not readOnly",
				"persistentVolumeClaim.readOnly"))
		}
	}
	if s := v.Image; s != nil {
		errs = errs.Also(validateImageVolume(s).ViaField("image"))
	}
	return errs
}

func validateItems(items []corev1.KeyToPath) *apis.FieldError {
	var errs *apis.FieldError
	for i, item := range items {
		errs = errs.Also(required("key", item.Key, "path", item.Path).ViaFieldIndex("items", i))
	}
	return errs
}

func validateEmptyDir(s *corev1.EmptyDirVolumeSource) *apis.FieldError {
	errs := only(s, "medium", "sizeLimit")
	if s.Medium != corev1.StorageMediumDefault && s.Medium != corev1.StorageMediumMemory {
		errs = errs.Also(apis.ErrInvalidValue(s.Medium, "medium"))
	}
	if s.SizeLimit != nil && s.SizeLimit.Sign() < 0 {
		errs = errs.Also(apis.ErrInvalidValue(s.SizeLimit.String(), "sizeLimit"))
	}
	return errs
}

func validateImageVolume(s *corev1.ImageVolumeSource) *apis.FieldError {
	errs := only(s, "reference", "pullPolicy").Also(required("reference", s.Reference))
	switch s.PullPolicy {
	case "", corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever:
	default:
		errs = errs.Also(apis.ErrInvalidValue(s.PullPolicy, "pullPolicy"))
	}
	return errs
}

func validateProjected(s *corev1.ProjectedVolumeSource) *apis.FieldError {
	errs := only(s, "sources", "defaultMode")
	if len(s.Sources) == 0 {
		errs = errs.Also(apis.ErrMissingField("sources"))
	}
	for i := range s.Sources {
		errs = errs.Also(validateProjection(&s.Sources[i]).ViaFieldIndex("sources", i))
	}
	return errs
}

func validateProjection(p *corev1.VolumeProjection) *apis.FieldError {
	kinds := []string{"secret", "configMap", "serviceAccountToken", "downwardAPI"}
	errs := only(p, kinds...)
	if errs == nil {
		errs = exactlyOne(setFields(p), kinds...)
	}
	if s := p.Secret; s != nil {
		errs = errs.Also(required("name", s.Name).Also(validateItems(s.Items)).ViaField("secret"))
	}
	if s := p.ConfigMap; s != nil {
		errs = errs.Also(required("name", s.Name).Also(validateItems(s.Items)).ViaField("configMap"))
	}
	if s := p.ServiceAccountToken; s != nil {
		errs = errs.Also(required("path", s.Path).ViaField("serviceAccountToken"))
	}
	if s := p.DownwardAPI; s != nil {
		for i := range s.Items {
			errs = errs.Also(validateDownwardItem(&s.Items[i]).ViaFieldIndex("items", i).ViaField("downwardAPI"))
		}
	}
	return errs
}

func validateDownwardItem(item *corev1.DownwardAPIVolumeFile) *apis.FieldError {
	var set []string
	if item.FieldRef != nil {
		set = append(set, "fieldRef")
	}
	if item.ResourceFieldRef != nil {
		set = append(set, "resourceFieldRef")
	}
	return required("path", item.Path).Also(exactlyOne(set, "fieldRef", "resourceFieldRef"))
}
