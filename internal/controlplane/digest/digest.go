// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package digest finds out which image a tag means, so that all instances of a Revision run the same bytes. It is best effort
// (design.md, Best effort digests): a look-up that fails or takes too long ends with an error that the caller shows and
// otherwise ignores, because the node that pulls may have other credentials, mirrors and names than we have.
package digest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Fixed returns the digest form of image where no look-up is needed: because image is one, or, with "", because its registry
// is among those whose tags are left alone. ok is false where a look-up is needed.
func Fixed(image string, skip sets.Set[string]) (digest string, ok bool) {
	if _, err := name.NewDigest(image, name.WeakValidation); err == nil {
		return image, true
	}
	tag, err := name.NewTag(image, name.WeakValidation)
	if err != nil {
		return "", true // nothing that any registry could be asked for
	}
	return "", skip.Has(tag.RegistryStr()) || skip.Has(firstComponent(image))
}

// Known sorts images: those whose digest form is known without a registry, "" where nobody is to ask, and the others. local
// names images of this machine, "" where it is none.
func Known(images []string, local func(image string) string, skip sets.Set[string]) (known map[string]string, unknown []string) {
	known = map[string]string{}
	for _, image := range images {
		d, ok := local(image), true
		if d == "" {
			d, ok = Fixed(image, skip)
		}
		if ok {
			known[image] = d
		} else {
			unknown = append(unknown, image)
		}
	}
	return known, unknown
}

// ImagesOf are those of the containers of a pod.
func ImagesOf(spec *corev1.PodSpec) []string {
	var images []string
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		images = append(images, c.Image)
	}
	return images
}

// firstComponent is the registry as it was written: Docker Hub has several names.
func firstComponent(image string) string {
	first, _, _ := strings.Cut(image, "/")
	return first
}

// FromImageID returns the digest form of image from what a node reports to run, "" where that has no repository digest. The
// repository stays the one that the user named: a node may have pulled from a mirror.
func FromImageID(image, imageID string) string {
	at := strings.LastIndex(imageID, "@sha256:")
	if at < 0 {
		return ""
	}
	tag, err := name.NewTag(image, name.WeakValidation)
	if err != nil {
		return ""
	}
	return join(tag.Context(), imageID[at+1:])
}

// join writes a digest of repo, under the name that users know Docker Hub by.
func join(repo name.Repository, digest string) string {
	return fmt.Sprintf("%s@%s", repo.Name(), digest)
}
