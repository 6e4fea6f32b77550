// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package leaderelection

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
)

var leases = coordinationv1.SchemeGroupVersion.WithResource("leases")

func TestConfig(t *testing.T) {
	tests := map[string]struct {
		reason  string
		data    map[string]string
		want    *Config
		wantErr string
	}{
		"Defaults": {
			reason: "a crash is taken over within the lease",
			want:   &Config{Buckets: 1, LeaseDuration: 8 * time.Second, RenewDeadline: 5 * time.Second, RetryPeriod: time.Second},
		},
		"BothSpellings": {
			reason: "the dashed spelling is the newer one and wins",
			data: map[string]string{
				"lease-duration": "60s", "leaseDuration": "1s", "renewDeadline": "40s", "retry-period": "10s", "buckets": "3",
				"map-lease-prefix.c.q": "old",
			},
			want: &Config{
				Buckets: 3, LeaseDuration: time.Minute, RenewDeadline: 40 * time.Second, RetryPeriod: 10 * time.Second,
				LeaseNamesPrefixMapping: map[string]string{"c.q": "old"},
			},
		},
		"NoBuckets":     {reason: "somebody must lead", data: map[string]string{"buckets": "0"}, wantErr: "buckets"},
		"TooMany":       {reason: "leases cost writes", data: map[string]string{"buckets": "11"}, wantErr: "buckets"},
		"ShortLease":    {reason: "a leader must notice before others take over", data: map[string]string{"lease-duration": "5s"}, wantErr: "lease-duration"},
		"ShortDeadline": {reason: "one attempt is too few", data: map[string]string{"renew-deadline": "1s"}, wantErr: "renew-deadline"},
		"NotANumber":    {reason: "the key is named", data: map[string]string{"retry-period": "often"}, wantErr: "retry-period"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := NewConfigFromMap(tc.data)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("%s: error is %v, want one about %s", tc.reason, err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatalf("NewConfigFromMap: %v", err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}

func TestLeaseNames(t *testing.T) {
	c := Config{Buckets: 2, LeaseNamesPrefixMapping: map[string]string{"Ctl.Mapped": "old-name"}}
	cc := c.GetComponentConfig("Ctl")
	if d := cmp.Diff([]string{"ctl.some.queue.00-of-02", "ctl.some.queue.01-of-02"}, cc.leaseNames("Some.Queue")); d != "" {
		t.Errorf("names (-want +got):\n%s", d)
	}
	if d := cmp.Diff("old-name", cc.prefix("Mapped")); d != "" {
		t.Errorf("mapped name (-want +got):\n%s", d)
	}
}
