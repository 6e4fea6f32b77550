// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"testing"

	"go.uber.org/goleak"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apixv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	kubefake "weir.dev/pkg/client/injection/kube/client/fake"
	"weir.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	_ "weir.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret/fake" // what the webhook asks for
	. "weir.dev/pkg/reconciler/testing"
	"weir.dev/pkg/system"
	_ "weir.dev/pkg/system/testing" // the namespace
	"weir.dev/pkg/webhook"
	"weir.dev/pkg/webhook/certificates"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secretName = "webhook-certs"

// controller is a webhook.AdmissionController.
type controller struct {
	path  string
	admit func(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse
}

func (c controller) Path() string { return c.path }

func (c controller) Admit(ctx context.Context, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return c.admit(ctx, req)
}

// stateless is one that needs no informers.
type stateless struct {
	controller
	webhook.StatelessAdmissionImpl
}

// converter returns the objects as they are.
type converter struct{ path string }

func (c converter) Path() string { return c.path }

func (c converter) Convert(_ context.Context, req *apixv1.ConversionRequest) *apixv1.ConversionResponse {
	return &apixv1.ConversionResponse{ConvertedObjects: req.Objects, Result: metav1.Status{Status: metav1.StatusSuccess}}
}

func allow(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return webhook.Allow()
}

// server is a webhook that runs on the loopback interface.
type server struct {
	t       *testing.T
	ctx     context.Context
	webhook *webhook.Webhook
	url     string
	roots   *x509.CertPool
	// seen gets something when the informer has taken a Secret in.
	seen chan struct{}
	// stop stops the server and returns what Run returned.
	stop func() error
}

func start(t *testing.T, opts webhook.Options, controllers ...any) *server {
	t.Helper()
	ctx, cancel, informers := SetupFakeContextWithCancel(t)
	opts.SecretName = secretName
	s := &server{t: t, ctx: ctx, roots: x509.NewCertPool(), seen: make(chan struct{}, 10)}
	s.store(s.certificate())
	wh, err := webhook.New(webhook.WithOptions(ctx, opts), controllers)
	if err != nil {
		t.Fatal(err)
	}
	s.webhook = wh
	_, _ = secret.Get(ctx).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(any, any) { s.seen <- struct{}{} },
		DeleteFunc: func(any) { s.seen <- struct{}{} },
	})
	wait, err := RunAndSyncInformers(ctx, informers...)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.url = "https://" + listener.Addr().String()
	serving, leave := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- wh.Serve(serving, listener) }()
	s.stop = func() error {
		leave()
		err := <-ended
		ended <- err
		return err
	}
	t.Cleanup(func() {
		_ = s.stop()
		cancel()
		wait()
	})
	return s
}

// certificate is a Secret with a new certificate, which clients trust from now on.
func (s *server) certificate() *corev1.Secret {
	s.t.Helper()
	dir, err := certificates.Open(s.t.TempDir(), "127.0.0.1")
	if err != nil {
		s.t.Fatal(err)
	}
	cert, err := dir.GetCertificate(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		s.t.Fatal(err)
	}
	s.roots.AppendCertsFromPEM(dir.CABundle())
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: system.Namespace(), Name: secretName},
		Data: map[string][]byte{
			"server-cert.pem": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]}),
			"server-key.pem":  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		},
	}
}

// store writes the Secret.
func (s *server) store(secret *corev1.Secret) {
	s.t.Helper()
	secrets := kubefake.Get(s.ctx).CoreV1().Secrets(system.Namespace())
	_, err := secrets.Get(s.ctx, secretName, metav1.GetOptions{})
	if err != nil {
		_, err = secrets.Create(s.ctx, secret, metav1.CreateOptions{})
	} else if _, err = secrets.Update(s.ctx, secret, metav1.UpdateOptions{}); err == nil {
		<-s.seen
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// client makes a connection of its own for each request.
func (s *server) client(change func(*tls.Config)) *http.Client {
	cfg := &tls.Config{RootCAs: s.roots, MinVersion: tls.VersionTLS12}
	if change != nil {
		change(cfg)
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: cfg, DisableKeepAlives: true, ForceAttemptHTTP2: true}}
}

// post sends a body and returns the status and the answer.
func (s *server) post(path, contentType string, body io.Reader) (int, string) {
	s.t.Helper()
	resp, err := s.client(nil).Post(s.url+path, contentType, body)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

// admit asks as the API server does.
func (s *server) admit(path string, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	s.t.Helper()
	body, err := json.Marshal(admissionv1.AdmissionReview{Request: req})
	if err != nil {
		s.t.Fatal(err)
	}
	code, answer := s.post(path, "application/json", bytes.NewReader(body))
	review := admissionv1.AdmissionReview{}
	if err := json.Unmarshal([]byte(answer), &review); err != nil || code != http.StatusOK || review.Response == nil {
		s.t.Fatalf("%d: no answer: %v: %s", code, err, answer)
	}
	return review.Response
}
