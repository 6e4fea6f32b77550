// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package apis

import (
	"encoding/json"
	"fmt"
	"net/url"

	"k8s.io/apimachinery/pkg/api/equality"
)

// URL is a net/url.URL that is a string in JSON.
type URL url.URL

// DeepCopyInto copies the URL into out.
func (u *URL) DeepCopyInto(out *URL) {
	*out = *u
	if u.User != nil {
		user := *u.User
		out.User = &user
	}
}

// DeepCopy returns a copy; nil for nil.
func (u *URL) DeepCopy() *URL {
	if u == nil {
		return nil
	}
	out := new(URL)
	u.DeepCopyInto(out)
	return out
}

// URLs hold no unexported state that matters except the user, which the
// generic comparison cannot look into.
func init() {
	if err := equality.Semantic.AddFunc(func(a, b URL) bool { return a.String() == b.String() }); err != nil {
		panic(err)
	}
}

// ParseURL parses s; the empty string gives nil.
func ParseURL(s string) (*URL, error) {
	if s == "" {
		return nil, nil
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("parse URL: %w", err)
	}
	return (*URL)(u), nil
}

// HTTP returns http://domain.
func HTTP(domain string) *URL { return &URL{Scheme: "http", Host: domain} }

// HTTPS returns https://domain.
func HTTPS(domain string) *URL { return &URL{Scheme: "https", Host: domain} }

// URL returns a copy as net/url.URL; nil for nil.
func (u *URL) URL() *url.URL {
	if u == nil {
		return nil
	}
	return (*url.URL)(u.DeepCopy())
}

// String returns the URL as text; "" for nil.
func (u *URL) String() string {
	if u == nil {
		return ""
	}
	return (*url.URL)(u).String()
}

// IsEmpty says whether the URL is nil or has nothing set.
func (u *URL) IsEmpty() bool { return u == nil || *u == URL{} }

// ResolveReference resolves ref relative to u, as net/url does. Without
// one of the two it returns u.
func (u *URL) ResolveReference(ref *URL) *URL {
	if u == nil || ref == nil {
		return u
	}
	return (*URL)((*url.URL)(u).ResolveReference((*url.URL)(ref)))
}

// MarshalJSON writes a JSON string.
func (u URL) MarshalJSON() ([]byte, error) { return json.Marshal(u.String()) }

// UnmarshalJSON reads a JSON string.
func (u *URL) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a URL is a JSON string: %w", err)
	}
	parsed, err := ParseURL(s)
	if err != nil {
		return err
	}
	if parsed == nil {
		parsed = &URL{}
	}
	*u = *parsed
	return nil
}
