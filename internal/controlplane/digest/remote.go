// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package digest

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"k8s.io/client-go/kubernetes"
)

// Remote is the Lookup that asks the image's registry, with the pull secrets that its pods would have. The digest of a
// multi-platform image is that of its index.
type Remote struct {
	// Client reads ServiceAccounts and Secrets.
	Client kubernetes.Interface
	// Transport carries the requests; nil is the default one.
	Transport http.RoundTripper
}

// retry is short: a start waits for the answer, and can do without.
var retry = remote.Backoff{Duration: 100 * time.Millisecond, Factor: 3, Jitter: 0.1, Steps: 3}

// Digest implements Lookup.
func (r *Remote) Digest(ctx context.Context, image string, as Identity) (string, error) {
	tag, err := name.NewTag(image, name.WeakValidation)
	if err != nil {
		return "", fmt.Errorf("parsing image reference: %w", err)
	}
	keys, err := pullSecrets(ctx, r.Client, as)
	if err != nil {
		return "", err
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(keys), remote.WithRetryBackoff(retry)}
	if r.Transport != nil {
		options = append(options, remote.WithTransport(r.Transport))
	}
	if d, err := remote.Head(tag, options...); err == nil {
		return join(tag.Context(), d.Digest.String()), nil
	}
	d, err := remote.Get(tag, options...) // some registries do not answer HEAD, and its errors say less
	if err != nil {
		return "", fmt.Errorf("looking up %s: %w", image, err)
	}
	return join(tag.Context(), d.Digest.String()), nil
}
