// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package digest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	corev1 "k8s.io/api/core/v1"
	apierrs "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// keychain maps registries, or registries with the beginning of a path, to credentials.
type keychain map[string]authn.AuthConfig

// Resolve implements authn.Keychain: the most specific entry counts.
func (k keychain) Resolve(target authn.Resource) (authn.Authenticator, error) {
	wanted, best := target.String(), ""
	for prefix := range k {
		if len(prefix) > len(best) && (wanted == prefix || strings.HasPrefix(wanted, prefix+"/")) {
			best = prefix
		}
	}
	if best == "" {
		return authn.Anonymous, nil
	}
	return authn.FromConfig(k[best]), nil
}

// pullSecrets reads what pods with this identity pull with: their own pull secrets and those of their ServiceAccount. A
// Secret that is missing is left out, as the kubelet does.
func pullSecrets(ctx context.Context, client kubernetes.Interface, as Identity) (keychain, error) {
	names := slices.Clone(as.PullSecrets)
	account := as.ServiceAccount
	if account == "" {
		account = "default"
	}
	sa, err := client.CoreV1().ServiceAccounts(as.Namespace).Get(ctx, account, metav1.GetOptions{})
	if err != nil && !apierrs.IsNotFound(err) {
		return nil, fmt.Errorf("reading ServiceAccount %s/%s: %w", as.Namespace, account, err)
	}
	if err == nil {
		for _, ref := range sa.ImagePullSecrets {
			names = append(names, ref.Name)
		}
	}
	keys := keychain{}
	for _, name := range names {
		secret, err := client.CoreV1().Secrets(as.Namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrs.IsNotFound(err):
			continue
		case err != nil:
			return nil, fmt.Errorf("reading pull secret %s/%s: %w", as.Namespace, name, err)
		}
		keys.add(secret)
	}
	return keys, nil
}

// add takes over the entries of one pull secret; the first secret with a registry counts. Secrets that are not pull secrets,
// or are malformed, have none.
func (k keychain) add(secret *corev1.Secret) {
	var config struct {
		Auths map[string]authn.AuthConfig `json:"auths"`
	}
	switch secret.Type {
	case corev1.SecretTypeDockerConfigJson:
		_ = json.Unmarshal(secret.Data[corev1.DockerConfigJsonKey], &config)
	case corev1.SecretTypeDockercfg:
		_ = json.Unmarshal(secret.Data[corev1.DockerConfigKey], &config.Auths)
	}
	for registry, auth := range config.Auths {
		key := normalize(registry)
		if _, ok := k[key]; !ok {
			k[key] = auth
		}
	}
}

// normalize turns the ways in which registries are written in pull secrets into the one that images use.
func normalize(registry string) string {
	_, rest, ok := strings.Cut(registry, "://")
	if !ok {
		rest = registry
	}
	rest = strings.TrimSuffix(rest, "/")
	rest = strings.TrimSuffix(strings.TrimSuffix(rest, "/v1"), "/v2")
	host, path, _ := strings.Cut(rest, "/")
	if host == "docker.io" || host == "registry-1.docker.io" {
		host = "index.docker.io"
	}
	return strings.TrimSuffix(host+"/"+path, "/")
}
