// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package digest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/fake"
)

const sha = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestFixed(t *testing.T) {
	skip := sets.New("weir.local", "reg.example:5000", "docker.io")
	tests := map[string]struct {
		reason string
		image  string
		want   string
		wantOK bool
	}{
		"digest":         {reason: "nothing to find out", image: "gcr.io/a/b@" + sha, want: "gcr.io/a/b@" + sha, wantOK: true},
		"tag and digest": {reason: "the digest counts", image: "gcr.io/a/b:v1@" + sha, want: "gcr.io/a/b:v1@" + sha, wantOK: true},
		"local":          {reason: "exists on the node only", image: "weir.local/hello:latest", wantOK: true},
		"with port":      {reason: "a registry is a host with its port", image: "reg.example:5000/x", wantOK: true},
		"alias":          {reason: "Docker Hub as it was written", image: "docker.io/library/x", wantOK: true},
		"tag":            {reason: "has to be looked up", image: "gcr.io/a/b:v1"},
		"malformed":      {reason: "no registry could answer; the node says why it fails", image: "a//b::", wantOK: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got, ok := Fixed(tc.image, skip); got != tc.want || ok != tc.wantOK {
				t.Errorf("%s: Fixed(%q) = %q, %v", tc.reason, tc.image, got, ok)
			}
		})
	}
}

func TestFromImageID(t *testing.T) {
	tests := map[string]struct{ reason, image, id, want string }{
		"repository digest": {"what the node pulled", "gcr.io/a/b:v1", "gcr.io/a/b@" + sha, "gcr.io/a/b@" + sha},
		"mirror":            {"the user's name stays", "gcr.io/a/b", "mirror.example/x/b@" + sha, "gcr.io/a/b@" + sha},
		"scheme":            {"older runtimes write one", "gcr.io/a/b", "docker-pullable://gcr.io/a/b@" + sha, "gcr.io/a/b@" + sha},
		"image id":          {"the digest of a config pulls nothing", "gcr.io/a/b", sha, ""},
		"nothing":           {"not pulled yet", "gcr.io/a/b", "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := FromImageID(tc.image, tc.id); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestKeychain(t *testing.T) {
	keys := keychain{}
	keys.add(dockerConfig(t, "s", map[string]string{
		"https://index.docker.io/v1/": "hub", "gcr.io": "gcr", "https://gcr.io/project/": "project",
	}))
	keys.add(dockerConfig(t, "later", map[string]string{"gcr.io": "ignored"}))
	for image, want := range map[string]string{
		"ubuntu": "hub", "gcr.io/other/x": "gcr", "gcr.io/project/x": "project", "gcr.io/projects/x": "gcr", "quay.io/x/y": "",
	} {
		ref, err := name.ParseReference(image)
		if err != nil {
			t.Fatal(err)
		}
		auth, err := keys.Resolve(ref.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := auth.Authorization()
		if err != nil || got.Username != want {
			t.Errorf("%s: credentials of %q, want %q (error %v)", image, got.Username, want, err)
		}
	}
}

// dockerConfig is a pull secret with these users, who have themselves as password.
func dockerConfig(t *testing.T, name string, users map[string]string) *corev1.Secret {
	t.Helper()
	auths := map[string]authn.AuthConfig{}
	for registry, user := range users {
		auths[registry] = authn.AuthConfig{Username: user, Password: user}
	}
	data, err := json.Marshal(map[string]any{"auths": auths})
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
		Type:       corev1.SecretTypeDockerConfigJson,
		Data:       map[string][]byte{corev1.DockerConfigJsonKey: data},
	}
}

func TestRemote(t *testing.T) {
	images := registry.New()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, _, _ := r.BasicAuth(); user != "me" {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		images.ServeHTTP(w, r)
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")

	index, err := random.Index(16, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	want, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag(host + "/a/b:v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(tag, index, remote.WithAuth(&authn.Basic{Username: "me", Password: "me"})); err != nil {
		t.Fatal(err)
	}

	client := fake.NewClientset(
		&corev1.ServiceAccount{
			ObjectMeta:       metav1.ObjectMeta{Namespace: "ns", Name: "default"},
			ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}, {Name: "missing"}},
		},
		dockerConfig(t, "pull", map[string]string{host: "me"}),
	)
	lookup := &Remote{Client: client}
	got, err := lookup.Digest(context.Background(), host+"/a/b:v1", Identity{Namespace: "ns"})
	if err != nil || got != host+"/a/b@"+want.String() {
		t.Errorf("with the pull secret of the account: got %q, %v; want the digest of the index, %s", got, err, want)
	}
	if got, err := lookup.Digest(context.Background(), host+"/a/b:v1", Identity{Namespace: "other"}); err == nil {
		t.Errorf("without credentials: got %q", got)
	}
	if got, err := lookup.Digest(context.Background(), host+"/a/b:v2", Identity{Namespace: "ns"}); err == nil {
		t.Errorf("tag that does not exist: got %q", got)
	}
}
