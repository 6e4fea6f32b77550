// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

const (
	// LocalRegistry is the registry name of images that were built here.
	LocalRegistry = "weir.local"

	dockerHub  = "docker.io"
	defaultTag = "latest"
	maxName    = 255
)

// ErrInvalidName is what errors about malformed image references wrap.
var ErrInvalidName = errors.New("invalid image name")

// The grammar of the OCI distribution specification, "Pulling manifests".
var (
	registryPattern  = regexp.MustCompile(`^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:.]+\])(?::[0-9]{1,5})?$`)
	componentPattern = regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$`)
	tagPattern       = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)
	digestPattern    = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// Reference is a complete image name: no part of it is implied.
type Reference struct {
	// Registry is host[:port]; Docker Hub is "docker.io".
	Registry string
	// Repository is the path below the registry, such as "library/nginx".
	Repository string
	// Tag is empty only if there is a Digest.
	Tag string
	// Digest is "sha256:…" or empty. It wins over Tag.
	Digest string
}

// ParseReference reads an image name as Kubernetes does: without a registry it
// means Docker Hub, without a tag or digest it means "latest".
func ParseReference(s string) (Reference, error) { return parseReference(s, dockerHub) }

// ParseLocalReference reads an image name as the image commands do: without a
// registry it means [LocalRegistry].
func ParseLocalReference(s string) (Reference, error) { return parseReference(s, LocalRegistry) }

func parseReference(s, defaultRegistry string) (Reference, error) {
	ref := Reference{Registry: defaultRegistry}
	rest, digest, hasDigest := strings.Cut(s, "@")
	if hasDigest && !digestPattern.MatchString(digest) {
		return Reference{}, invalidName(s, "digest %q is not sha256: and 64 hexadecimal digits", digest)
	}
	ref.Digest = digest
	if first, path, ok := strings.Cut(rest, "/"); ok && isRegistry(first) {
		ref.Registry, rest = canonicalRegistry(first), path
	}
	repo, tag, hasTag := strings.Cut(rest, ":")
	ref.Repository, ref.Tag = repo, tag
	if !hasTag && !hasDigest {
		ref.Tag = defaultTag
	}
	if ref.Registry == dockerHub && !strings.Contains(repo, "/") {
		ref.Repository = "library/" + repo
	}
	if err := ref.check(s, repo, hasTag); err != nil {
		return Reference{}, err
	}
	return ref, nil
}

// check names the first part that breaks the grammar. repo is the repository as
// written.
func (r Reference) check(s, repo string, hasTag bool) error {
	switch {
	case s == "":
		return fmt.Errorf("%w: it is empty", ErrInvalidName)
	case !registryPattern.MatchString(r.Registry):
		return invalidName(s, "%q is not a registry host", r.Registry)
	case repo == "":
		return invalidName(s, "the repository is missing")
	case len(r.Registry)+len(r.Repository) > maxName:
		return invalidName(s, "registry and repository are longer than %d characters", maxName)
	case hasTag && !tagPattern.MatchString(r.Tag):
		return invalidName(s, "tag %q has other characters than letters, digits, '_', '.' and '-', or is too long", r.Tag)
	}
	bad := slices.IndexFunc(strings.Split(repo, "/"), func(c string) bool { return !componentPattern.MatchString(c) })
	if bad < 0 {
		return nil
	}
	if repo != strings.ToLower(repo) {
		return invalidName(s, "the repository must be lower case")
	}
	return invalidName(s, "%q is not a repository: want lower-case letters and digits, separated by '/', '.', '_' or '-'", repo)
}

func invalidName(s, format string, args ...any) error {
	return fmt.Errorf("%w %q: %s", ErrInvalidName, s, fmt.Sprintf(format, args...))
}

// isRegistry tells a registry from the first part of a repository. "localhost"
// without a port counts: read as a Docker Hub user it would leave the machine.
func isRegistry(first string) bool {
	return first == "localhost" || strings.ContainsAny(first, ".:")
}

func canonicalRegistry(host string) string {
	host = strings.ToLower(host)
	if host == name.DefaultRegistry || host == "registry-1.docker.io" {
		return dockerHub
	}
	return host
}

// IsLocal reports whether ref names an image of a registry that exists on
// developers' machines only. Such an image is never looked up elsewhere.
// "localhost" with a port is an ordinary registry on loopback.
func IsLocal(ref string) bool {
	r, err := ParseReference(ref)
	return err == nil && r.isLocal()
}

func (r Reference) isLocal() bool {
	host, _, hasPort := strings.Cut(r.Registry, ":")
	if host == "localhost" {
		return !hasPort
	}
	return slices.Contains([]string{LocalRegistry, "dev.local", "ko.local", "kind.local"}, host)
}

// Name is registry and repository.
func (r Reference) Name() string { return r.Registry + "/" + r.Repository }

// String is the whole reference in the form that parses back to it.
func (r Reference) String() string {
	s := r.Name()
	if r.Tag != "" {
		s += ":" + r.Tag
	}
	if r.Digest != "" {
		s += "@" + r.Digest
	}
	return s
}

// pinned is the reference by digest alone.
func (r Reference) pinned(digest string) Reference {
	r.Tag, r.Digest = "", digest
	return r
}

// remote is the reference for the registry client.
func (r Reference) remote(opts ...name.Option) (name.Reference, error) {
	registry, err := name.NewRegistry(r.Registry, opts...)
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", ErrInvalidName, r, err)
	}
	repo := registry.Repo(r.Repository)
	if r.Digest != "" {
		return repo.Digest(r.Digest), nil
	}
	return repo.Tag(r.Tag), nil
}
