// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto/tls"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir.dev/pkg/system"
	"weir.dev/pkg/webhook/internal/hooktest"
)

var (
	testKeys  = keys{serverKey: "server-key.pem", serverCert: "server-cert.pem", caCert: CACert, caKey: CAKey}
	testHosts = hostsOf(hooktest.ServiceName, system.Namespace())
	// testLifetime is an authority's, so that a test sees several.
	testLifetime = replaceBefore + 10*24*time.Hour
	epoch        = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

// foreign is what something else than this package has put into a Secret: a
// certificate that ends then, of an authority whose key is not there.
func foreign(t *testing.T, end time.Time) map[string][]byte {
	t.Helper()
	begin := end.Add(-servingLifetime)
	ca, err := newAuthority(begin, servingLifetime)
	if err != nil {
		t.Fatal(err)
	}
	serving, err := ca.issue(testHosts[:1], begin)
	if err != nil {
		t.Fatal(err)
	}
	key, err := keyPEM(serving.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"server-key.pem": key, "server-cert.pem": certificatePEM(serving.Leaf), CACert: certificatePEM(ca.cert),
		"unrelated": []byte("kept"),
	}
}

// renewed is the data of a Secret after a reconcile at a time.
func renewed(t *testing.T, data map[string][]byte, now time.Time) (map[string][]byte, bool, time.Time) {
	t.Helper()
	m := testKeys.parse(data)
	changed, next, err := m.renew(testHosts, now, testLifetime)
	if err != nil {
		t.Fatal(err)
	}
	if !changed {
		return data, false, next
	}
	out, err := testKeys.write(m, data)
	if err != nil {
		t.Fatal(err)
	}
	return out, true, next
}

// TestNoCallFails follows a Secret over months. Clients are told the bundle, and
// servers the certificate, as late as half a day after it was written; any of
// these clients accepts any of these servers at any time.
func TestNoCallFails(t *testing.T) {
	const step, days, late = time.Hour, 60, 11
	tests := map[string]struct {
		reason string
		data   map[string][]byte
	}{
		"New":     {"from the beginning", nil},
		"Foreign": {"from what something else has put there", foreign(t, epoch.Add(3*24*time.Hour))},
		"Due":     {"even if its certificate is due already", foreign(t, epoch.Add(23*time.Hour+30*time.Minute))},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			data, next, writes := tc.data, epoch, 0
			if data == nil {
				data, _, next = renewed(t, nil, epoch)
			}
			history := []material{testKeys.parse(data)}
			for now := epoch; now.Before(epoch.AddDate(0, 0, days)); now = now.Add(step) {
				newest := history[len(history)-1]
				if !now.Before(next) {
					data, _, next = renewed(t, data, now)
					newest = testKeys.parse(data)
					writes++
				}
				history = append(history, newest)
				history = history[max(0, len(history)-late-1):]
				known := []material{newest}
				if history[0].serving != newest.serving {
					known = append(known, history[0])
				}
				for _, client := range known {
					for _, server := range known {
						if !accepted(server.serving, client.bundle, testHosts[0], now) {
							t.Fatalf("%s: a call fails after %s", tc.reason, now.Sub(epoch))
						}
					}
				}
			}
			if n := len(history[len(history)-1].bundle); n > 5 {
				t.Errorf("authorities that have ended must go: %d in the bundle", n)
			}
			if most := days/6 + 2*days/10 + 5; writes < days/10 || writes > most {
				t.Errorf("want a write for each renewal, at most %d, got %d", most, writes)
			}
		})
	}
}

func TestRenew(t *testing.T) {
	made, _, _ := renewed(t, nil, epoch)
	without := func(key string) map[string][]byte {
		out := map[string][]byte{}
		for name, value := range made {
			if name != key {
				out[name] = value
			}
		}
		return out
	}
	due := epoch.Add(servingLifetime - renewBefore)
	tests := map[string]struct {
		reason      string
		data        map[string][]byte
		now         time.Time
		authority   bool // a new one
		certificate bool // a new one
		next        time.Time
	}{
		"Empty":      {"there is nothing", nil, epoch, true, true, due},
		"Good":       {"nothing is due", made, epoch.Add(time.Hour), false, false, due},
		"Due":        {"the certificate alone is renewed", made, due, false, true, epoch.Add(10 * 24 * time.Hour)},
		"Ended":      {"nobody accepts it any more", made, epoch.Add(servingLifetime), false, true, epoch.Add(10 * 24 * time.Hour)},
		"NoKey":      {"what clients trust is not cut off", without(CAKey), epoch.Add(time.Hour), true, false, due},
		"NoServing":  {"there is nothing to present", without("server-key.pem"), epoch, false, true, due},
		"NoBundle":   {"clients trust nobody", without(CACert), epoch, true, true, due},
		"OldCA":      {"the old authority serves until clients know the new one", made, epoch.Add(10 * 24 * time.Hour), true, true, epoch.Add(16 * 24 * time.Hour)},
		"ForeignDue": {"what is presented stays until clients know the new authority", foreign(t, epoch.Add(20*time.Hour)), epoch, true, false, epoch.Add(settle)},
		"ForeignEnding": {
			"when it has ended there is nothing to lose", foreign(t, epoch.Add(3*time.Hour)), epoch, true, false, epoch.Add(3 * time.Hour),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := testKeys.parse(tc.data)
			data, changed, next := renewed(t, tc.data, tc.now)
			after := testKeys.parse(data)
			newAuthority := before.ca == nil || !before.ca.cert.Equal(after.ca.cert)
			newCertificate := before.serving == nil || !cmp.Equal(before.serving.Certificate, after.serving.Certificate)
			if newAuthority != tc.authority || newCertificate != tc.certificate || changed != (tc.authority || tc.certificate) {
				t.Errorf("%s: new authority %v, new certificate %v, changed %v", tc.reason, newAuthority, newCertificate, changed)
			}
			if !next.Equal(tc.next) {
				t.Errorf("next after %s, want %s", next.Sub(tc.now), tc.next.Sub(tc.now))
			}
			if _, again, _ := renewed(t, data, tc.now); again {
				t.Error("what was just renewed is not due")
			}
			if tc.data != nil && string(data["unrelated"]) != string(tc.data["unrelated"]) {
				t.Error("what else is in the Secret is kept")
			}
		})
	}
}

func TestServed(t *testing.T) {
	data, _, _ := renewed(t, nil, epoch)
	cert, err := tls.X509KeyPair(data["server-cert.pem"], data["server-key.pem"])
	if err != nil {
		t.Fatal(err)
	}
	if got := cert.Leaf.NotAfter.Sub(epoch); got != servingLifetime {
		t.Errorf("it is good for a week, not %s", got)
	}
	if diff := cmp.Diff(testHosts, cert.Leaf.DNSNames); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), []byte("junk"))
	f.Fuzz(func(t *testing.T, cert, key []byte) {
		data := map[string][]byte{"server-cert.pem": cert, "server-key.pem": key, CACert: cert, CAKey: key}
		m := testKeys.parse(data)
		if changed, _, err := m.renew(testHosts, epoch, testLifetime); err != nil || !changed {
			t.Fatalf("whatever a Secret holds is replaced by something good: %v, %v", changed, err)
		}
		if !accepted(m.serving, m.bundle, testHosts[0], epoch) {
			t.Fatal("clients must accept it")
		}
	})
}
