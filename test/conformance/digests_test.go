// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/apis"
)

// "containerStatuses: the resolved digest of each image": what a tag means is looked up as the pod would pull it, and kept. It is
// best effort: where the node can start, a registry that does not answer blocks nothing.
func TestDigests(t *testing.T) {
	if suite.Own == nil {
		t.Skip("the registries are on this machine's loopback")
	}
	open, private := newRegistry(t, false), newRegistry(t, true)
	s := newSpace(t)
	s.pullSecret("pull", private.host)
	s.account("puller", "pull")
	openTag, openDigest := open.push(t, "team/app")
	privateTag, privateDigest := private.push(t, "team/app")

	cases := map[string]struct {
		reason string
		image  string
		change change
		want   string
	}{
		"tag":              {"the digest of the index, not of one platform's image", openTag, nil, openDigest},
		"digest":           {"as it is", openDigest, nil, openDigest},
		"pull secret":      {"of the template", privateTag, pulledWith("pull"), privateDigest},
		"account's secret": {"of the ServiceAccount", privateTag, runAs("puller"), privateDigest},
		"local registry":   {"the store of the node is asked, no registry", image, nil, ""},
		"the registry's end": {"what the node has it can start", openTag, func(*servingv1.Service) {
			s.pull(openTag)
			open.down.Store(true)
		}, ""},
	}
	// In this order: the last one closes the registry.
	for _, name := range []string{"tag", "digest", "pull secret", "account's secret", "local registry", "the registry's end"} {
		tc := cases[name]
		t.Run(name, func(t *testing.T) {
			svc := hello("")
			svc.GenerateName = "app-"
			svc.Spec.Template.Spec.Containers[0].Image = tc.image
			svc.Spec.Template.Spec.Containers[0].ImagePullPolicy = corev1.PullIfNotPresent
			if tc.change != nil {
				tc.change(svc)
			}
			s := *s
			s.t = t
			revision := s.revision(s.deploy(svc).Status.LatestReadyRevisionName)
			if got := revision.Status.ContainerStatuses[0].ImageDigest; tc.want != "" && got != tc.want {
				t.Errorf("%s: status has %q, want %q", tc.reason, got, tc.want)
			}
			deployment, err := s.Kube.AppsV1().Deployments(s.ns).Get(s.ctx, revision.Name+"-deployment", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := deployment.Spec.Template.Spec.Containers[0].Image; tc.want != "" && got != tc.want {
				t.Errorf("%s: pods are started with %q, want %q", tc.reason, got, tc.want)
			}
			warning := revision.Status.GetCondition("DigestsPinned")
			if open.down.Load() && (!warning.IsFalse() || warning.Severity != apis.ConditionSeverityWarning || warning.Message == "") {
				t.Errorf("%s: the Revision does not tell: %+v", tc.reason, warning)
			}
		})
	}
}

// Who may not pull is told what the registry said.
func TestRefusedPull(t *testing.T) {
	if suite.Own == nil {
		t.Skip("the registry is on this machine's loopback")
	}
	private := newRegistry(t, true)
	tag, _ := private.push(t, "team/app")
	svc := hello("app")
	svc.Spec.Template.Spec.Containers[0].Image = tag
	newSpace(t).fails(svc, "ErrImagePull", "401")
}

// pull has the node pull an image by its tag: a pod runs it.
func (s *space) pull(tag string) {
	s.t.Helper()
	pods := s.Kube.CoreV1().Pods(s.ns)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pull"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: tag}}}}
	if _, err := pods.Create(s.ctx, pod, metav1.CreateOptions{}); err != nil {
		s.t.Fatal(err)
	}
	s.eventually("the image is pulled", func() (bool, error) {
		pod, err := pods.Get(s.ctx, "pull", metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning, err
	})
}

func pulledWith(secret string) change {
	return func(svc *servingv1.Service) {
		svc.Spec.Template.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: secret}}
	}
}

func runAs(account string) change {
	return func(svc *servingv1.Service) { svc.Spec.Template.Spec.ServiceAccountName = account }
}

func (s *space) pullSecret(name, registry string) {
	s.t.Helper()
	config, err := json.Marshal(map[string]any{"auths": map[string]any{registry: map[string]string{"username": user, "password": password}}})
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = s.Kube.CoreV1().Secrets(s.ns).Create(s.ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: config},
	}, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *space) account(name, pullSecret string) {
	s.t.Helper()
	_, err := s.Kube.CoreV1().ServiceAccounts(s.ns).Create(s.ctx, &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Name: name}, ImagePullSecrets: []corev1.LocalObjectReference{{Name: pullSecret}},
	}, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
}
