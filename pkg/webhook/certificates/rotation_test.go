// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/system"
	"weir.dev/pkg/webhook"
	"weir.dev/pkg/webhook/internal/hooktest"
	"weir.dev/pkg/webhook/resourcesemantics"
	"weir.dev/pkg/webhook/resourcesemantics/defaulting"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a time that the test sets.
type clock struct{ now atomic.Pointer[time.Time] }

func (c *clock) set(now time.Time) { c.now.Store(&now) }
func (c *clock) get() time.Time    { return *c.now.Load() }

func installed(data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: system.Namespace(), Name: hooktest.SecretName}, Data: data,
	}
}

// tick is how far the clock goes at a time; it may do so during a call.
const tick = 3 * time.Hour

// apiServer calls a webhook by what the webhook's configuration says of it, as
// it was a while ago: up to 9 hours, when the clock goes on during a call.
type apiServer struct {
	t       *testing.T
	cluster *hooktest.Cluster
	clock   *clock
	addr    string

	heard  time.Time // of the bundle
	bundle []byte
	calls  atomic.Int64
}

// run calls until the context ends.
func (s *apiServer) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.call(ctx); err != nil && ctx.Err() == nil {
			s.t.Errorf("a call failed %s after the beginning: %v", s.clock.get().Sub(epoch), err)
			return
		}
		s.calls.Add(1)
	}
}

func (s *apiServer) call(ctx context.Context) error {
	if now := s.clock.get(); s.bundle == nil || now.Sub(s.heard) > settle-2*tick {
		got, err := s.cluster.Kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(ctx, "hook", metav1.GetOptions{})
		if err != nil {
			return err
		}
		s.heard, s.bundle = now, got.Webhooks[0].ClientConfig.CABundle
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.bundle)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		RootCAs: roots, Time: s.clock.get, ServerName: testHosts[0],
	}}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+s.addr+"/defaulting", strings.NewReader(`{"request":{}}`))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// TestRotation runs everything that there is of a webhook for a month and a
// half of a clock, in which several certificates and two authorities end.
func TestRotation(t *testing.T) {
	now := &clock{}
	now.set(epoch)
	cluster := hooktest.New(t, webhook.Options{GracePeriod: 1}, installed(nil),
		&admissionregistrationv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "hook"}, Webhooks: []admissionregistrationv1.MutatingWebhook{{Name: "hook"}},
		})
	certs := newController(cluster.Ctx, now.get, testLifetime)
	kinds := map[schema.GroupVersionKind]resourcesemantics.GenericCRD{hooktest.GadgetKind: &hooktest.Gadget{}}
	hook := defaulting.NewAdmissionController(cluster.Ctx, "hook", "/defaulting", kinds, nil, false)
	server, err := webhook.New(cluster.Ctx, []any{hook.Reconciler})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serving := make(chan error, 1)
	ctx, stop := context.WithCancel(cluster.Ctx)
	cluster.Run(certs, hook)
	go func() { serving <- server.Serve(ctx, listener) }()

	done := func() bool {
		secret, err := cluster.Kube.CoreV1().Secrets(system.Namespace()).Get(ctx, hooktest.SecretName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		m := testKeys.parse(secret.Data)
		changed, _, err := m.renew(testHosts, now.get(), testLifetime)
		hook, _ := cluster.Kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(ctx, "hook", metav1.GetOptions{})
		return err == nil && !changed && string(hook.Webhooks[0].ClientConfig.CABundle) == string(secret.Data[CACert])
	}
	cluster.Await(done)
	api := &apiServer{t: t, cluster: cluster, clock: now, addr: listener.Addr().String()}
	calling := make(chan struct{})
	go func() {
		defer close(calling)
		api.run(ctx)
	}()
	ended := func() bool {
		select {
		case <-calling:
			return true
		default:
			return false
		}
	}
	for at := epoch; at.Before(epoch.AddDate(0, 0, 45)) && !ended(); at = at.Add(tick) {
		now.set(at)
		certs.EnqueueKey(types.NamespacedName{Namespace: system.Namespace(), Name: hooktest.SecretName})
		cluster.Await(done)
		called := api.calls.Load() + 2
		cluster.Await(func() bool { return ended() || api.calls.Load() >= called })
	}
	stop()
	<-calling
	if err := <-serving; err != nil {
		t.Errorf("serve: %v", err)
	}
}

func TestReconcile(t *testing.T) {
	good, _, _ := renewed(t, nil, epoch)
	tests := map[string]struct {
		reason string
		secret *corev1.Secret
		follow bool // another replica leads
		writes int
		want   func(error) bool
	}{
		"NotInstalled": {"trying again installs nothing", nil, false, 0, controller.IsPermanentError},
		"Empty":        {"it is filled", installed(nil), false, 1, isRequeue},
		"Good":         {"nothing is due", installed(good), false, 0, isRequeue},
		"Follower":     {"the leader alone writes", installed(nil), true, 0, controller.IsSkipKey},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := hooktest.New(t, webhook.Options{})
			if tc.secret != nil {
				if err := cluster.Kube.Tracker().Add(tc.secret); err != nil {
					t.Fatal(err)
				}
			}
			impl := newController(cluster.Ctx, func() time.Time { return epoch.Add(time.Minute) }, testLifetime)
			cluster.Start(impl)
			if !tc.follow {
				cluster.Lead(impl)
			}
			if err := impl.Reconciler.Reconcile(cluster.Ctx, "any"); !tc.want(err) {
				t.Errorf("%s: got %v", tc.reason, err)
			}
			if writes := cluster.Writes(); len(writes) != tc.writes {
				t.Errorf("%s: wrote %v", tc.reason, writes)
			}
		})
	}
}

func isRequeue(err error) bool {
	requeue, after := controller.IsRequeueKey(err)
	return requeue && after > 24*time.Hour
}

func TestNewController(t *testing.T) {
	cluster := hooktest.New(t, webhook.Options{}, installed(nil))
	cluster.Run(NewController(cluster.Ctx, nil))
	cluster.Await(func() bool {
		secret, err := cluster.Kube.CoreV1().Secrets(system.Namespace()).Get(cluster.Ctx, hooktest.SecretName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		m := testKeys.parse(secret.Data)
		return m.ca != nil && m.serving != nil && accepted(m.serving, m.bundle, testHosts[0], time.Now())
	})
}
