// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
)

func TestKeychain(t *testing.T) {
	k, err := KeychainFromDockerConfigs(
		[]byte(`{"auths":{
			"https://index.docker.io/v1/": {"username":"hub","password":"p"},
			"registry.example": {"auth":"aG9zdDpw"},
			"registry.example/team": {"username":"team","password":"p"},
			"registry.example/team/app": {"username":"app","password":"p"},
			"*.wild.example": {"username":"wild","password":"p"},
			"registry.example:5000": {"username":"port","password":"p"}
		}}`),
		[]byte(`{"old.example": {"username":"old","password":"p"}, "registry.example": {"username":"second","password":"p"}}`),
	)
	if err != nil {
		t.Fatal(err)
	}
	for repo, want := range map[string]string{
		"nginx":                     "hub",
		"registry.example/x":        "host",
		"registry.example/team/x":   "team",
		"registry.example/teamwork": "host",
		"registry.example/team/app": "app",
		"registry.example:5000/x":   "port",
		"a.wild.example/x":          "wild",
		"wild.example/x":            "",
		"a.b.wild.example/x":        "",
		"old.example/x":             "old",
		"unknown.example/x":         "",
	} {
		r, err := name.NewRepository(repo)
		if err != nil {
			t.Fatal(err)
		}
		auth, err := k.Resolve(r)
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := auth.Authorization()
		if err != nil || cfg.Username != want {
			t.Errorf("%s gets user %q, %v; want %q", repo, cfg.Username, err, want)
		}
	}
}

func TestKeychainDoesNotLeakSecrets(t *testing.T) {
	_, err := KeychainFromDockerConfigs([]byte(`{"auths": hunter2}`))
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error %v; want one without the value", err)
	}
}
