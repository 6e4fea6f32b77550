// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"crypto/tls"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubefake "weir.dev/pkg/client/injection/kube/client/fake"
	"weir.dev/pkg/system"
	"weir.dev/pkg/webhook"
)

func TestRenewedCertificate(t *testing.T) {
	s := start(t, webhook.Options{GracePeriod: 1}, stateless{controller: controller{"/x", allow}})
	presented := func() string {
		t.Helper()
		resp, err := s.client(nil).Get(s.url + "/x")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.TLS.PeerCertificates[0].SerialNumber.String()
	}
	first := presented()
	if again := presented(); again != first {
		t.Error("the certificate must stay while the Secret does")
	}
	s.store(s.certificate())
	second := presented()
	if second == first {
		t.Error("a renewed certificate must be presented at once")
	}
	broken := s.certificate()
	broken.Data["server-key.pem"] = []byte("junk")
	s.store(broken)
	if got := presented(); got != second {
		t.Error("what cannot be read must not end the service")
	}
	if err := kubefake.Get(s.ctx).CoreV1().Secrets(system.Namespace()).Delete(s.ctx, secretName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	<-s.seen
	if got := presented(); got != second {
		t.Error("a Secret that is gone must not either")
	}
}

func TestTLS(t *testing.T) {
	tests := map[string]struct {
		reason   string
		opts     webhook.Options
		env      map[string]string
		client   func(*tls.Config)
		want     uint16 // 0: refused
		protocol string
	}{
		"Default": {"the newest", webhook.Options{}, nil, nil, tls.VersionTLS13, "HTTP/1.1"},
		"Old": {
			"1.2 is for those who ask", webhook.Options{}, nil,
			func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }, 0, "",
		},
		"OldAllowed": {
			"the options ask", webhook.Options{TLSMinVersion: tls.VersionTLS12}, nil,
			func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }, tls.VersionTLS12, "HTTP/1.1",
		},
		"OldAllowedByEnvironment": {
			"the operator asks", webhook.Options{}, map[string]string{"WEBHOOK_TLS_MIN_VERSION": "1.2"},
			func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }, tls.VersionTLS12, "HTTP/1.1",
		},
		"OptionsFirst": {
			"the program knows better than its surroundings",
			webhook.Options{TLSMinVersion: tls.VersionTLS13}, map[string]string{"WEBHOOK_TLS_MIN_VERSION": "1.2"},
			func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }, 0, "",
		},
		"Suites": {
			"only those that are chosen",
			webhook.Options{TLSMinVersion: tls.VersionTLS12, TLSMaxVersion: tls.VersionTLS12, TLSCipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384}}, nil,
			func(c *tls.Config) {
				c.MaxVersion, c.CipherSuites = tls.VersionTLS12, []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}
			}, 0, "",
		},
		"Curves": {
			"only those that are chosen", webhook.Options{TLSCurvePreferences: []tls.CurveID{tls.CurveP384}}, nil,
			func(c *tls.Config) { c.CurvePreferences = []tls.CurveID{tls.X25519} }, 0, "",
		},
		"HTTP2": {"for those who ask", webhook.Options{EnableHTTP2: true}, nil, nil, tls.VersionTLS13, "HTTP/2.0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for k, v := range tc.env {
				t.Setenv(k, v)
			}
			tc.opts.GracePeriod = 1
			s := start(t, tc.opts, stateless{controller: controller{"/x", allow}})
			resp, err := s.client(tc.client).Get(s.url + "/x")
			if tc.want == 0 {
				if err == nil {
					t.Errorf("%s: got %s", tc.reason, tls.VersionName(resp.TLS.Version))
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			_ = resp.Body.Close()
			if resp.TLS.Version != tc.want || resp.Proto != tc.protocol {
				t.Errorf("%s: got %s over %s", tc.reason, resp.Proto, tls.VersionName(resp.TLS.Version))
			}
		})
	}
}
