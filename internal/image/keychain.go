// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

// credential is one entry of a pull secret: credentials for every repository
// under a registry host pattern and a path.
type credential struct {
	host, path string
	auth       authn.AuthConfig
}

type keychain []credential

// KeychainFromDockerConfigs makes a keychain from the values of pull secrets:
// .dockerconfigjson ({"auths": {…}}) and the older .dockercfg (the inner map
// alone). The longest match wins; of equal ones the first.
func KeychainFromDockerConfigs(configs ...[]byte) (authn.Keychain, error) {
	var k keychain
	for i, raw := range configs {
		var outer struct {
			Auths map[string]authn.AuthConfig `json:"auths"`
		}
		// The value must not get into an error, so the parser's is not wrapped.
		if err := json.Unmarshal(raw, &outer); err != nil {
			return nil, fmt.Errorf("pull secret %d is not a docker configuration", i)
		}
		if outer.Auths == nil {
			if err := json.Unmarshal(raw, &outer.Auths); err != nil {
				return nil, fmt.Errorf("pull secret %d is not a docker configuration", i)
			}
		}
		for _, key := range sortedKeys(outer.Auths) {
			host, path := splitServer(key)
			k = append(k, credential{host: host, path: path, auth: outer.Auths[key]})
		}
	}
	slices.SortStableFunc(k, func(a, b credential) int { return b.precision() - a.precision() })
	return k, nil
}

func sortedKeys(m map[string]authn.AuthConfig) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// splitServer reads a server key: "[scheme://]host[:port][/path]". Docker Hub is
// written as "https://index.docker.io/v1/".
func splitServer(key string) (host, path string) {
	if _, after, ok := strings.Cut(key, "://"); ok {
		key = after
	}
	host, path, _ = strings.Cut(key, "/")
	path = strings.Trim(path, "/")
	if path == "v1" || path == "v2" {
		path = ""
	}
	return canonicalRegistry(host), path
}

// precision orders credentials: longer paths first, then exact hosts.
func (c credential) precision() int {
	p := 2 * len(c.path)
	if !strings.Contains(c.host, "*") {
		p++
	}
	return p
}

// Resolve implements authn.Keychain.
func (k keychain) Resolve(target authn.Resource) (authn.Authenticator, error) {
	host := canonicalRegistry(target.RegistryStr())
	repo := strings.TrimPrefix(strings.TrimPrefix(target.String(), target.RegistryStr()), "/")
	if r, ok := target.(name.Repository); ok {
		repo = r.RepositoryStr()
	}
	for _, c := range k {
		if matchHost(c.host, host) && (c.path == "" || repo == c.path || strings.HasPrefix(repo, c.path+"/")) {
			return authn.FromConfig(c.auth), nil
		}
	}
	return authn.Anonymous, nil
}

// matchHost matches as the kubelet does: label by label, '*' within a label, and
// the same port.
func matchHost(pattern, host string) bool {
	p, h := strings.Split(pattern, "."), strings.Split(host, ".")
	if len(p) != len(h) {
		return false
	}
	for i := range p {
		if ok, err := path.Match(p[i], h[i]); err != nil || !ok {
			return false
		}
	}
	return true
}
