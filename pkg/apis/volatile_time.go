// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package apis

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// VolatileTime is a time that does not count in semantic equality: two
// statuses that differ only in such times need no write.
// +k8s:deepcopy-gen=true
type VolatileTime struct {
	// Inner is the time.
	Inner metav1.Time
}

// Semantic equality is a table of apimachinery that types register in, as API
// types do in schemes.
func init() {
	if err := equality.Semantic.AddFunc(func(VolatileTime, VolatileTime) bool { return true }); err != nil {
		panic(err)
	}
}

// MarshalJSON writes the time as metav1.Time does.
func (t VolatileTime) MarshalJSON() ([]byte, error) { return t.Inner.MarshalJSON() }

// UnmarshalJSON reads the time as metav1.Time does.
func (t *VolatileTime) UnmarshalJSON(b []byte) error { return t.Inner.UnmarshalJSON(b) }
