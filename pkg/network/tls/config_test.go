// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package tls_test

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	weirtls "weir.dev/pkg/network/tls"
)

// what is compared of a configuration.
type choice struct {
	Min, Max uint16
	Suites   []uint16
	Curves   []tls.CurveID
}

func choiceOf(c *tls.Config) choice {
	return choice{Min: c.MinVersion, Max: c.MaxVersion, Suites: c.CipherSuites, Curves: c.CurvePreferences}
}

func TestDefaultConfigFromEnv(t *testing.T) {
	tests := map[string]struct {
		reason  string
		env     map[string]string
		want    choice
		wantErr string
	}{
		"Nothing": {
			reason: "the default is the newest alone",
			want:   choice{Min: tls.VersionTLS13},
		},
		"Blank": {
			reason: "a variable that says nothing is unset",
			env:    map[string]string{"A_TLS_MIN_VERSION": " ", "A_TLS_CIPHER_SUITES": " , "},
			want:   choice{Min: tls.VersionTLS13},
		},
		"Everything": {
			reason: "each variable has its field",
			env: map[string]string{
				"A_TLS_MIN_VERSION": "1.2", "A_TLS_MAX_VERSION": "1.3",
				"A_TLS_CIPHER_SUITES":     "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,",
				"A_TLS_CURVE_PREFERENCES": "X25519MLKEM768,X25519, P-256,CurveP384",
			},
			want: choice{
				Min: tls.VersionTLS12, Max: tls.VersionTLS13,
				Suites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384},
				Curves: []tls.CurveID{tls.X25519MLKEM768, tls.X25519, tls.CurveP256, tls.CurveP384},
			},
		},
		"AnotherPrefix": {
			reason: "another component's variables do not count",
			env:    map[string]string{"B_TLS_MIN_VERSION": "1.2"},
			want:   choice{Min: tls.VersionTLS13},
		},
		"OldVersion": {
			reason: "versions that are broken are refused", env: map[string]string{"A_TLS_MIN_VERSION": "1.1"},
			wantErr: "A_TLS_MIN_VERSION",
		},
		"Reversed": {
			reason: "nothing would be left", env: map[string]string{"A_TLS_MAX_VERSION": "1.2"},
			wantErr: "A_TLS_MAX_VERSION",
		},
		"Insecure": {
			reason:  "an operator must not weaken the system by mistake",
			env:     map[string]string{"A_TLS_CIPHER_SUITES": "TLS_RSA_WITH_RC4_128_SHA"},
			wantErr: "TLS_RSA_WITH_RC4_128_SHA is insecure",
		},
		"All": {
			reason:  "everything wrong is told at once",
			env:     map[string]string{"A_TLS_CIPHER_SUITES": "x", "A_TLS_CURVE_PREFERENCES": "y"},
			wantErr: "A_TLS_CIPHER_SUITES: unknown cipher suite \"x\"\nA_TLS_CURVE_PREFERENCES: unknown curve \"y\"",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for key, value := range tc.env {
				t.Setenv(key, value)
			}
			got, err := weirtls.DefaultConfigFromEnv("A_")
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("%s: error is %v, want one about %q", tc.reason, err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatalf("DefaultConfigFromEnv: %v", err)
			}
			if d := cmp.Diff(tc.want, choiceOf(got)); d != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}

// FuzzDefaultConfigFromEnv: whatever the environment says, a configuration is
// of TLS 1.2 at least and has secure cipher suites only.
func FuzzDefaultConfigFromEnv(f *testing.F) {
	f.Add("1.2", "1.3", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "X25519")
	f.Add("", "1.2", ",", "P-256,,")
	f.Fuzz(func(t *testing.T, lowest, highest, suites, curves string) {
		for key, value := range map[string]string{
			"MIN_VERSION": lowest, "MAX_VERSION": highest, "CIPHER_SUITES": suites, "CURVE_PREFERENCES": curves,
		} {
			if strings.ContainsRune(value, 0) {
				t.Skip("the environment cannot hold it")
			}
			t.Setenv("F_TLS_"+key, value)
		}
		got, err := weirtls.DefaultConfigFromEnv("F_")
		if err != nil {
			return
		}
		if got.MinVersion < tls.VersionTLS12 || got.MaxVersion != 0 && got.MaxVersion < got.MinVersion {
			t.Errorf("versions are %d to %d", got.MinVersion, got.MaxVersion)
		}
		for _, insecure := range tls.InsecureCipherSuites() {
			for _, id := range got.CipherSuites {
				if id == insecure.ID {
					t.Errorf("it allows %s", insecure.Name)
				}
			}
		}
	})
}
