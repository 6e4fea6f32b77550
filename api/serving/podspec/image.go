// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// The parts of a reference, as registries know them.
var (
	digestForm     = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	tagForm        = regexp.MustCompile(`^\w[\w.-]{0,127}$`)
	registryForm   = regexp.MustCompile(`^([\w.-]+|\[[0-9a-fA-F:]+\])(:[0-9]+)?$`)
	repositoryForm = regexp.MustCompile(`^[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`)
)

// checkReference checks an image reference by the weak rules: no tag is
// needed, and none is guessed here.
func checkReference(image string) error {
	if name, digest, ok := strings.Cut(image, "@"); ok {
		if !digestForm.MatchString(digest) {
			return fmt.Errorf("digest %q is not sha256 and 64 hex digits", digest)
		}
		image = name
	}
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		if !tagForm.MatchString(image[i+1:]) {
			return fmt.Errorf("tag %q is not up to 128 letters, digits and any of _.-", image[i+1:])
		}
		image = image[:i]
	}
	return checkRepository(image)
}

func checkRepository(name string) error {
	if host, path, ok := strings.Cut(name, "/"); ok && (strings.ContainsAny(host, ".:") || host == "localhost") {
		if !registryForm.MatchString(host) {
			return fmt.Errorf("registry %q is not a host", host)
		}
		name = path
	}
	if name == "" || len(name) > 255 {
		return errors.New("the repository must have 1 to 255 characters")
	}
	if !repositoryForm.MatchString(name) {
		return fmt.Errorf("repository %q is not lower-case letters, digits and any of _-./ between them", name)
	}
	return nil
}
