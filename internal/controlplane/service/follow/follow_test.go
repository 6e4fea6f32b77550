// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clocktesting "k8s.io/utils/clock/testing"

	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/digest"
	"weir.dev/internal/controlplane/fixture"
)

const (
	hash    = "weir.dev/config-hash"
	digests = "weir.dev/followed-digests"
)

// registry is a Digests that has its answers at once, or none.
type registry struct {
	results map[string]digest.Result
	asked   int
}

func (r *registry) Resolve(req digest.Request) (map[string]digest.Result, bool) {
	r.asked++
	if r.results == nil {
		return nil, false
	}
	found := map[string]digest.Result{}
	for _, image := range req.Images {
		found[image] = r.results[image]
	}
	return found, true
}

func (r *registry) Forget(types.UID) {}

// rig is a Follower in a world of its own.
type rig struct {
	*Follower
	t        *testing.T
	kube     *fake.Clientset
	registry *registry
	clock    *clocktesting.FakeClock
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, kube: fake.NewClientset(), registry: &registry{}, clock: clocktesting.NewFakeClock(fixture.Now)}
	r.Follower = New(Config{
		Kube: r.kube, Digests: r.registry, Clock: r.clock,
		LocalImage: func(image string) string { return r.registry.results["local:"+image].Digest },
	})
	return r
}

// configMap writes one, and lets the time go by after which it is read again.
func (r *rig) configMap(name string, data map[string]string) {
	r.t.Helper()
	maps := r.kube.CoreV1().ConfigMaps(fixture.Namespace)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
	_, err := maps.Update(r.t.Context(), cm, metav1.UpdateOptions{})
	if err != nil {
		_, err = maps.Create(r.t.Context(), cm, metav1.CreateOptions{})
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.clock.Step(lookEvery)
}

// stamp asks, and writes what comes of it to the Configuration, as the reconciler does.
func (r *rig) stamp(svc *v1.Service, config *v1.Configuration, latest *v1.Revision) Stamps {
	s := r.Stamps(context.Background(), svc, config, latest)
	config.Spec.Template.Annotations = s.Annotations
	return s
}

func following(spec func(*corev1.PodSpec)) *v1.Service {
	return fixture.Service("app", func(svc *v1.Service) {
		svc.Spec.Template.Annotations = map[string]string{"weir.dev/follow-config": "enabled"}
		spec(&svc.Spec.Template.Spec.PodSpec)
	})
}

func fromMap(name string, optional bool) corev1.EnvFromSource {
	return corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Optional: &optional,
	}}
}

func TestConfigIsFollowed(t *testing.T) {
	r, config := newRig(t), fixture.Configuration("app")
	svc := following(func(p *corev1.PodSpec) {
		p.Containers[0].EnvFrom = []corev1.EnvFromSource{fromMap("a", false), fromMap("b", true)}
	})

	missing := r.stamp(svc, config, nil)
	if missing.Annotations != nil || len(missing.Problems) != 1 {
		t.Errorf("what pods need is missing: got %+v, want a problem and no stamp", missing)
	}
	r.configMap("a", map[string]string{"k": "1"})
	first := r.stamp(svc, config, nil)
	if first.Annotations[hash] == "" || first.Problems != nil || first.Again != lookEvery {
		t.Fatalf("got %+v, want a stamp, and to be asked again", first)
	}
	r.configMap("a", map[string]string{"k": "1"})
	if same := r.stamp(svc, config, nil); !maps.Equal(first.Annotations, same.Annotations) {
		t.Errorf("written anew with the same contents: got %v, was %v", same.Annotations, first.Annotations)
	}
	r.configMap("a", map[string]string{"k": "2"})
	second := r.stamp(svc, config, nil)
	if second.Annotations[hash] == first.Annotations[hash] {
		t.Error("other contents, the same stamp")
	}
	r.configMap("b", map[string]string{"k": "1"})
	third := r.stamp(svc, config, nil)
	if third.Annotations[hash] == second.Annotations[hash] {
		t.Error("an optional one appeared, the same stamp")
	}
	if err := r.kube.CoreV1().ConfigMaps(fixture.Namespace).Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.clock.Step(lookEvery)
	if gone := r.stamp(svc, config, nil); !maps.Equal(gone.Annotations, third.Annotations) {
		t.Errorf("there is nothing to roll to: got %v, was %v", gone.Annotations, third.Annotations)
	}
}

// The hash of a Secret cannot be computed from its contents: passwords are short.
func TestHashesOfSecretsTellNothing(t *testing.T) {
	svc := following(func(p *corev1.PodSpec) {
		p.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}}}
	})
	stamps := map[string]string{}
	for _, uid := range []types.UID{"one", "two"} {
		r := newRig(t)
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", UID: uid}, Data: map[string][]byte{"password": []byte("1234")}}
		if _, err := r.kube.CoreV1().Secrets(fixture.Namespace).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		stamps[r.stamp(svc, fixture.Configuration("app"), nil).Annotations[hash]] = string(uid)
	}
	if len(stamps) != 2 {
		t.Errorf("two Secrets with the same contents have the hashes %v", stamps)
	}
}

// Many Services that refer to one object cost one read.
func TestContentsAreReadOnce(t *testing.T) {
	r := newRig(t)
	r.configMap("a", map[string]string{"k": "1"})
	r.kube.ClearActions()
	svc := following(func(p *corev1.PodSpec) { p.Containers[0].EnvFrom = []corev1.EnvFromSource{fromMap("a", false)} })
	for range 5 {
		r.stamp(svc, fixture.Configuration("app"), nil)
	}
	if n := len(r.kube.Actions()); n != 1 {
		t.Errorf("%d reads, want one", n)
	}
}

func TestReferences(t *testing.T) {
	yes, name := true, func(n string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: n} }
	spec := &corev1.PodSpec{
		InitContainers: []corev1.Container{{Env: []corev1.EnvVar{{ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: name("env")},
		}}}}},
		Containers: []corev1.Container{{
			Env: []corev1.EnvVar{{Value: "plain"}, {ValueFrom: &corev1.EnvVarSource{
				ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: name("env"), Optional: &yes},
			}}},
			EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: name("all")}}, fromMap("both", true)},
		}},
		Volumes: []corev1.Volume{
			{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "volume", Optional: &yes}}},
			{VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: name("both")}}},
			{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{Secret: &corev1.SecretProjection{LocalObjectReference: name("projected")}},
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: name("projected")}},
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
			}}}},
		},
		ImagePullSecrets: []corev1.LocalObjectReference{name("pull")},
	}
	want := references{
		{"ConfigMap", "env"}: true, {"ConfigMap", "both"}: false, {"ConfigMap", "projected"}: false,
		{"Secret", "env"}: false, {"Secret", "all"}: false, {"Secret", "volume"}: true, {"Secret", "projected"}: false,
	}
	if diff := cmp.Diff(want, referencesOf(spec), cmp.AllowUnexported(reference{})); diff != "" {
		t.Errorf("(-want, +got)\n%s", diff)
	}
}

// running is a Revision whose image was resolved.
func running(digest string) *v1.Revision {
	return fixture.Revision("app", 1, func(rev *v1.Revision) {
		rev.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "user-container", ImageDigest: digest}}
	})
}

func TestTagsAreFollowed(t *testing.T) {
	tests := map[string]struct {
		reason   string
		results  map[string]digest.Result
		running  *v1.Revision
		want     string
		problems int
	}{
		"the same":    {"nothing happened", map[string]digest.Result{"img": {Digest: "img@1"}}, running("img@1"), "", 0},
		"another":     {"the tag was pushed again", map[string]digest.Result{"img": {Digest: "img@2"}}, running("img@1"), "img@2 after app-00001", 0},
		"unknown":     {"nobody knows what runs", map[string]digest.Result{"img": {Digest: "img@2"}}, running(""), "", 0},
		"failed":      {"the registry does not answer", map[string]digest.Result{"img": {Err: errors.New("no")}}, running("img@1"), "", 1},
		"local":       {"an image of this machine was built again", map[string]digest.Result{"local:img": {Digest: "img@2"}}, running("img@1"), "img@2 after app-00001", 0},
		"no Revision": {"there is none yet", map[string]digest.Result{"img": {Digest: "img@2"}}, nil, "", 0},
		"pending":     {"the answer is not there", nil, running("img@1"), "", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.registry.results = tc.results
			svc := fixture.Service("app", func(svc *v1.Service) {
				svc.Spec.Template.Annotations = map[string]string{"weir.dev/follow-tags": "1m"}
			})
			got := r.stamp(svc, fixture.Configuration("app"), tc.running)
			if got.Annotations[digests] != tc.want || len(got.Problems) != tc.problems {
				t.Errorf("%s: got %+v, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestTagsAreLookedUpAtTheInterval(t *testing.T) {
	r, config := newRig(t), fixture.Configuration("app")
	r.registry.results = map[string]digest.Result{"img": {Digest: "img@2"}}
	svc := fixture.Service("app", func(svc *v1.Service) {
		svc.Spec.Template.Annotations = map[string]string{"weir.dev/follow-tags": "1m"}
	})
	if s := r.stamp(svc, config, running("img@1")); s.Again != time.Minute || s.Annotations[digests] != "img@2 after app-00001" {
		t.Fatalf("got %+v", s)
	}
	r.clock.Step(20 * time.Second)
	if s := r.stamp(svc, config, running("img@1")); s.Again != 40*time.Second || r.registry.asked != 1 || s.Annotations[digests] != "img@2 after app-00001" {
		t.Errorf("too early: got %+v, asked %d times, want what was there before", s, r.registry.asked)
	}
	r.clock.Step(40 * time.Second)
	if s := r.stamp(svc, config, running("img@2")); r.registry.asked != 2 || s.Annotations[digests] != "img@2 after app-00001" {
		t.Errorf("due, and the same: got %+v, asked %d times", s, r.registry.asked)
	}
}
