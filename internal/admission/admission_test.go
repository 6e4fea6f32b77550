// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"weir.dev/api/config"
	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/configmap"
	logtesting "weir.dev/pkg/logging/testing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// apiServer stands for the API server: it knows the webhooks from their
// registration only.
type apiServer struct {
	t          *testing.T
	mutating   admissionregistrationv1.MutatingWebhook
	validating admissionregistrationv1.ValidatingWebhook
	config     admissionregistrationv1.ValidatingWebhook
}

func start(t *testing.T, settings func() *config.Config) *apiServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client := fake.NewClientset()
	a, err := New(Config{
		Client: client, Listener: listener, CertDir: t.TempDir(), Settings: settings,
		Log: logtesting.TestLogger(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	select {
	case <-a.Ready():
	case err := <-done:
		t.Fatalf("Run ended: %v", err)
	}
	return registered(t, client)
}

func registered(t *testing.T, client *fake.Clientset) *apiServer {
	t.Helper()
	api := client.AdmissionregistrationV1()
	m, err := api.MutatingWebhookConfigurations().Get(t.Context(), defaultingName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := api.ValidatingWebhookConfigurations().Get(t.Context(), validationName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := api.ValidatingWebhookConfigurations().Get(t.Context(), configName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &apiServer{t: t, mutating: m.Webhooks[0], validating: v.Webhooks[0], config: c.Webhooks[0]}
}

func (s *apiServer) client(c admissionregistrationv1.WebhookClientConfig) *http.Client {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(c.CABundle) {
		s.t.Fatal("the CA bundle holds no certificate")
	}
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true,
	}}
}

func (s *apiServer) ask(c admissionregistrationv1.WebhookClientConfig, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	s.t.Helper()
	req.UID = "the-uid"
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: req,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := s.client(c).Post(*c.URL, "application/json", bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	review := admissionv1.AdmissionReview{}
	if err := json.NewDecoder(resp.Body).Decode(&review); err != nil {
		s.t.Fatal(err)
	}
	if review.Response == nil || review.Response.UID != "the-uid" || review.Kind != "AdmissionReview" {
		s.t.Fatalf("the answer is no answer to the request: %+v", review)
	}
	return review.Response
}

// admit does what the API server does with an object: default, then validate.
func (s *apiServer) admit(req *admissionv1.AdmissionRequest) (*servingv1.Service, *admissionv1.AdmissionResponse) {
	s.t.Helper()
	mutated := s.ask(s.mutating.ClientConfig, req)
	if !mutated.Allowed {
		return nil, mutated
	}
	if mutated.Patch != nil {
		patch, err := jsonpatch.DecodePatch(mutated.Patch)
		if err != nil {
			s.t.Fatal(err)
		}
		if req.Object.Raw, err = patch.Apply(req.Object.Raw); err != nil {
			s.t.Fatal(err)
		}
	}
	validated := s.ask(s.validating.ClientConfig, req)
	if !validated.Allowed {
		return nil, validated
	}
	out := &servingv1.Service{}
	if err := json.Unmarshal(req.Object.Raw, out); err != nil {
		s.t.Fatal(err)
	}
	return out, validated
}

func request(operation admissionv1.Operation, user, object, old string) *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{
		Operation: operation,
		Kind:      metav1.GroupVersionKind{Group: "serving.knative.dev", Version: "v1", Kind: "Service"},
		Resource:  metav1.GroupVersionResource{Group: "serving.knative.dev", Version: "v1", Resource: "services"},
		Namespace: "default", Name: "hello",
		UserInfo:  authenticationv1.UserInfo{Username: user},
		Object:    raw(object),
		OldObject: raw(old),
	}
}

// raw is JSON as the API server sends it: absent if there is none.
func raw(object string) runtime.RawExtension {
	if object == "" {
		return runtime.RawExtension{}
	}
	return runtime.RawExtension{Raw: []byte(object)}
}

const hello = `{"apiVersion":"serving.knative.dev/v1","kind":"Service","metadata":{"name":"hello","namespace":"default"},
"spec":{"template":{"spec":{"containers":[{"image":"weir.local/hello"}]}}}}`

func TestCreateThenUpdate(t *testing.T) {
	s := start(t, nil)

	created, response := s.admit(request(admissionv1.Create, "alice", hello, ""))
	if !response.Allowed {
		t.Fatalf("refused: %v", response.Result)
	}
	spec := created.Spec.Template.Spec
	if *spec.TimeoutSeconds != 300 || spec.Containers[0].ReadinessProbe == nil || *created.Spec.Traffic[0].Percent != 100 {
		t.Errorf("defaults are missing: %+v", created.Spec)
	}
	wantAuthors(t, created, "alice", "alice")
	if len(response.Warnings) == 0 {
		t.Error("want warnings about insecure defaults")
	}

	stored, err := json.Marshal(created)
	if err != nil {
		t.Fatal(err)
	}
	if again := s.ask(s.mutating.ClientConfig, request(admissionv1.Update, "bob", string(stored), string(stored))); string(again.Patch) != "[]" {
		t.Errorf("what has its defaults must not change, else generations grow: %s", again.Patch)
	}
	relabelled, response := s.admit(request(admissionv1.Update, "bob", string(stored), string(stored)))
	if !response.Allowed {
		t.Fatalf("refused: %v", response.Result)
	}
	wantAuthors(t, relabelled, "alice", "alice")

	changed := strings.ReplaceAll(string(stored), "weir.local/hello", "weir.local/other")
	updated, response := s.admit(request(admissionv1.Update, "bob", changed, string(stored)))
	if !response.Allowed {
		t.Fatalf("refused: %v", response.Result)
	}
	wantAuthors(t, updated, "alice", "bob")
}

func wantAuthors(t *testing.T, s *servingv1.Service, creator, modifier string) {
	t.Helper()
	if c, m := s.Annotations["serving.knative.dev/creator"], s.Annotations["serving.knative.dev/lastModifier"]; c != creator || m != modifier {
		t.Errorf("creator %q and last modifier %q, want %q and %q", c, m, creator, modifier)
	}
}

func TestRefusals(t *testing.T) {
	s := start(t, nil)
	tests := map[string]struct {
		reason string
		object string
		want   string
	}{
		"negative percent": {
			reason: "the message names the field",
			object: strings.Replace(hello, `"spec":{`, `"spec":{"traffic":[{"latestRevision":true,"percent":-1}],`, 1),
			want:   "validation failed: Traffic targets sum to -1, want 100: spec.traffic\nexpected 0 <= -1 <= 100: spec.traffic[0].percent",
		},
		"no containers": {
			reason: "there is nothing to run",
			object: strings.Replace(hello, `[{"image":"weir.local/hello"}]`, `[]`, 1),
			want:   "validation failed: missing field(s): spec.template.spec.containers",
		},
		"no template": {
			reason: "what is missing is named, not the null that JSON would make of it",
			object: strings.Replace(hello, `{"template":{"spec":{"containers":[{"image":"weir.local/hello"}]}}}`, `{}`, 1),
			want:   "validation failed: missing field(s): spec.template.spec.containers",
		},
		"not the type": {
			reason: "defaulting leaves it to the schema, and validation refuses what has passed that",
			object: strings.Replace(hello, `[{"image":"weir.local/hello"}]`, `7`, 1),
			want:   "decoding request failed: cannot decode incoming new object: json: cannot unmarshal number",
		},
		"no object": {
			reason: "a review may be anything",
			object: "",
			want:   "mutation failed: the request has no object",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, response := s.admit(request(admissionv1.Create, "alice", tc.object, ""))
			if response.Allowed || !strings.HasPrefix(response.Result.Message, tc.want) {
				t.Errorf("%s: got %+v, want %q", tc.reason, response.Result, tc.want)
			}
			if !response.Allowed && (response.Result.Code != 400 || response.Result.Reason != metav1.StatusReasonBadRequest) {
				t.Errorf("want BadRequest, got %+v", response.Result)
			}
		})
	}
}

func TestPasses(t *testing.T) {
	s := start(t, nil)
	bad := strings.Replace(hello, `[{"image":"weir.local/hello"}]`, `[]`, 1)

	if r := s.ask(s.validating.ClientConfig, request(admissionv1.Delete, "alice", "", bad)); !r.Allowed {
		t.Errorf("a deletion must pass whatever is deleted: %v", r.Result)
	}
	status := request(admissionv1.Update, "controller", bad, bad)
	status.SubResource = "status"
	if out, r := s.admit(status); !r.Allowed || out.Annotations["serving.knative.dev/lastModifier"] != "" {
		t.Errorf("a status has its own rules and no author: %v", r.Result)
	}
	leaving := strings.Replace(bad, `"metadata":{`, `"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z",`, 1)
	if r := s.ask(s.validating.ClientConfig, request(admissionv1.Update, "alice", leaving, leaving)); !r.Allowed {
		t.Errorf("an object on its way out is not judged: %v", r.Result)
	}
	other := request(admissionv1.Create, "alice", hello, "")
	other.Kind.Kind = "Unheard"
	if r := s.ask(s.validating.ClientConfig, other); r.Allowed {
		t.Error("a kind that was not registered must not pass unseen")
	}
}

// TestOldMistakesAreTolerated is about objects that were stored when other rules held: they must not be stuck.
func TestOldMistakesAreTolerated(t *testing.T) {
	s := start(t, nil)
	bad := strings.Replace(hello, `[{"image":"weir.local/hello"}]`, `[]`, 1)
	labelled := strings.Replace(bad, `"metadata":{`, `"metadata":{"labels":{"team":"a"},`, 1)
	r := s.ask(s.validating.ClientConfig, request(admissionv1.Update, "alice", labelled, bad))
	if !r.Allowed || !strings.Contains(strings.Join(r.Warnings, " "), "spec.template.spec.containers") {
		t.Errorf("a label may change beside a spec that stays, with a warning: %+v", r)
	}
	if r := s.ask(s.validating.ClientConfig, request(admissionv1.Update, "alice", bad, hello)); r.Allowed {
		t.Error("a spec that becomes bad is refused")
	}

	configMap := func(data map[string]string) runtime.RawExtension {
		body, err := json.Marshal(corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config-features"}, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		return runtime.RawExtension{Raw: body}
	}
	change := func(now map[string]string) *admissionv1.AdmissionResponse {
		return s.ask(s.config.ClientConfig, &admissionv1.AdmissionRequest{
			Operation: admissionv1.Update, Object: configMap(now), OldObject: configMap(map[string]string{"multi-container": "maybe"}),
		})
	}
	if r := change(map[string]string{"multi-container": "maybe", "kubernetes.podspec-affinity": "enabled"}); !r.Allowed || len(r.Warnings) == 0 {
		t.Errorf("another key may change, with a warning: %+v", r)
	}
	r = change(map[string]string{"multi-container": "maybe", "kubernetes.podspec-affinity": "perhaps"})
	if r.Allowed || strings.Contains(r.Result.Message, "multi-container") || !strings.Contains(r.Result.Message, "podspec-affinity") {
		t.Errorf("a new mistake is refused, and only that is told: %+v", r)
	}
}

func TestSettingsAreLive(t *testing.T) {
	settings := NewSettings(logtesting.TestLogger(t))
	watcher := &configmap.ManualWatcher{Namespace: "knative-serving"}
	settings.WatchConfigs(watcher)
	s := start(t, settings.Load)

	if out, _ := s.admit(request(admissionv1.Create, "alice", hello, "")); *out.Spec.Template.Spec.TimeoutSeconds != 300 {
		t.Error("want the built-in default before there is a ConfigMap")
	}
	watcher.OnChange(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "config-defaults", Namespace: "knative-serving"},
		Data:       map[string]string{"revision-timeout-seconds": "30"},
	})
	if out, _ := s.admit(request(admissionv1.Create, "alice", hello, "")); *out.Spec.Template.Spec.TimeoutSeconds != 30 {
		t.Error("want the default of the ConfigMap at once")
	}
}

func TestTagTemplateIsLive(t *testing.T) {
	settings := NewSettings(logtesting.TestLogger(t))
	watcher := &configmap.ManualWatcher{Namespace: "knative-serving"}
	settings.WatchConfigs(watcher)
	s := start(t, settings.Load)
	tagged := strings.Replace(hello, `"spec":{`, `"spec":{"traffic":[{"tag":"`+strings.Repeat("b", 57)+`","percent":100}],`, 1)

	if _, r := s.admit(request(admissionv1.Create, "alice", tagged, "")); !r.Allowed {
		t.Errorf("63 characters are a label, got %v", r.Result)
	}
	watcher.OnChange(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "config-network", Namespace: "knative-serving"},
		Data:       map[string]string{"tag-template": "{{.Tag}}--{{.Name}}"},
	})
	if _, r := s.admit(request(admissionv1.Create, "alice", tagged, "")); r.Allowed || !strings.Contains(r.Result.Message, "spec.traffic[0].tag") {
		t.Errorf("with the operator's template it is none, got %+v", r)
	}
}

func TestLiveRubbish(t *testing.T) {
	settings := NewSettings(logtesting.TestLogger(t))
	watcher := &configmap.ManualWatcher{Namespace: "knative-serving"}
	settings.WatchConfigs(watcher)
	watcher.OnChange(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "config-features", Namespace: "knative-serving"},
		Data:       map[string]string{"multi-container": "maybe"},
	})
	if got := settings.Load().Features.MultiContainer; got != config.Enabled {
		t.Errorf("what is stored already keeps its default, got %q", got)
	}
}

func TestConfigMaps(t *testing.T) {
	s := start(t, nil)
	tests := map[string]struct {
		reason string
		cm     corev1.ConfigMap
		want   string // part of the message; "" for allowed
	}{
		"good":    {"it parses", corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config-defaults"}, Data: map[string]string{"container-concurrency": "5"}}, ""},
		"bad":     {"it would be ignored later", corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config-defaults"}, Data: map[string]string{"container-concurrency": "many"}}, "validation failed: "},
		"rubbish": {"it would be ignored", corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config-features"}, Data: map[string]string{"multi-container": "maybe"}}, "multi-container = "},
		"number":  {"there is none", corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config-autoscaler"}, Data: map[string]string{"panic-threshold-percentage": "NaN"}}, "panic-threshold-percentage"},
		"foreign": {"nobody reads it", corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "other"}, Data: map[string]string{"x": "y"}}, ""},
		"example": {
			"the example has no effect", corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: "config-gc", Annotations: map[string]string{"knative.dev/example-checksum": "00000000"}},
				Data:       map[string]string{"_example": "changed"},
			}, `the update modifies a key in "_example"`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			body, err := json.Marshal(tc.cm)
			if err != nil {
				t.Fatal(err)
			}
			r := s.ask(s.config.ClientConfig, &admissionv1.AdmissionRequest{
				Operation: admissionv1.Update, Object: runtime.RawExtension{Raw: body},
			})
			if r.Allowed != (tc.want == "") || (!r.Allowed && !strings.Contains(r.Result.Message, tc.want)) {
				t.Errorf("%s: got %+v", tc.reason, r)
			}
		})
	}
}

// TestConfigMapWarnings is about keys that do nothing: they are never silently so.
func TestConfigMapWarnings(t *testing.T) {
	s := start(t, nil)
	body, err := json.Marshal(corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "config-deployment"},
		Data:       map[string]string{"queue-sidecar-image": "x", "progress-dedline": "5s", "progress-deadline": "5s", "_example": "x"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := s.ask(s.config.ClientConfig, &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: body}})
	want := []string{
		`config-deployment: unknown key "progress-dedline" has no effect, did you mean "progress-deadline"?`,
		`config-deployment: "queue-sidecar-image" has no effect: there is no sidecar`,
	}
	if !r.Allowed || !slices.Equal(r.Warnings, want) {
		t.Errorf("got %+v, want %q", r, want)
	}
}

func TestHTTP(t *testing.T) {
	s := start(t, nil)
	url := *s.mutating.ClientConfig.URL
	tests := map[string]struct {
		reason      string
		url         string
		contentType string
		body        io.Reader
		want        int
	}{
		"unknown path":  {"nobody serves it", url + "x", "application/json", strings.NewReader("{}"), http.StatusBadRequest},
		"content type":  {"the API server sends JSON", url, "text/plain", strings.NewReader("{}"), http.StatusUnsupportedMediaType},
		"not JSON":      {"nor is this", url, "application/json", strings.NewReader("{"), http.StatusBadRequest},
		"no request":    {"a review without one asks nothing", url, "application/json", strings.NewReader("{}"), http.StatusBadRequest},
		"too large":     {"3 MiB is the API server's limit", url, "application/json", strings.NewReader(`"` + strings.Repeat("x", 4<<20) + `"`), http.StatusRequestEntityTooLarge},
		"charset given": {"parameters do not change the type", url, "application/json; charset=utf-8", strings.NewReader("{"), http.StatusBadRequest},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			resp, err := s.client(s.mutating.ClientConfig).Post(tc.url, tc.contentType, tc.body)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != tc.want {
				t.Errorf("%s: got %d, want %d", tc.reason, resp.StatusCode, tc.want)
			}
		})
	}
}

func TestRegistration(t *testing.T) {
	s := start(t, nil)
	if *s.mutating.FailurePolicy != admissionregistrationv1.Fail || *s.validating.FailurePolicy != admissionregistrationv1.Fail {
		t.Error("no object may slip by while nobody looks")
	}
	if len(s.mutating.Rules) != 6 || len(s.validating.Rules) != 6 {
		t.Errorf("want a rule for each kind, got %d and %d", len(s.mutating.Rules), len(s.validating.Rules))
	}
	for _, rule := range s.mutating.Rules {
		if len(rule.Resources) != 1 || strings.Contains(rule.Resources[0], "/") {
			t.Errorf("want each resource without its status, which nobody judges: got %v", rule.Resources)
		}
	}
	if !strings.HasPrefix(*s.mutating.ClientConfig.URL, "https://127.0.0.1:") {
		t.Errorf("want the listener's address, got %s", *s.mutating.ClientConfig.URL)
	}
}

func TestRegisterAgain(t *testing.T) {
	client := fake.NewClientset()
	a := &Admission{cfg: Config{Client: client}, target: target{url: "https://127.0.0.1:1", caBundle: []byte("a")}}
	for range 2 {
		if err := a.register(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := writes(client); n != 3 {
		t.Errorf("registering the same again must write nothing: %d writes, want 3", n)
	}
	a.target.url = "https://127.0.0.1:2"
	if err := a.register(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := writes(client); n != 6 {
		t.Errorf("another address must be written: %d writes, want 6", n)
	}
	if got := *registered(t, client).config.ClientConfig.URL; got != "https://127.0.0.1:2/config-validation" {
		t.Errorf("got %s", got)
	}
}

func writes(client *fake.Clientset) int {
	n := 0
	for _, action := range client.Actions() {
		if action.GetVerb() != "get" {
			n++
		}
	}
	return n
}

func TestTarget(t *testing.T) {
	service := &admissionregistrationv1.ServiceReference{Namespace: "knative-serving", Name: "webhook"}
	target, hosts, err := targetOf(Config{Service: service})
	if err != nil || hosts[0] != "webhook.knative-serving.svc" || *target.at("/x").Service.Path != "/x" || service.Path != nil {
		t.Errorf("service: %v %v %v", target, hosts, err)
	}
	for _, url := range []string{"http://127.0.0.1", "https://", "::"} {
		if _, _, err := targetOf(Config{URL: url}); err == nil {
			t.Errorf("%q must be refused", url)
		}
	}
}
