// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package apis

import (
	"encoding/json"
	"testing"
)

func TestURLJSON(t *testing.T) {
	type holder struct {
		URL *URL `json:"url,omitempty"`
	}
	tests := map[string]struct {
		reason  string
		in, out string
		wantErr bool
	}{
		"string":     {reason: "a URL is a string", in: `{"url":"http://u:p@a.b:80/c?d=e#f"}`, out: `{"url":"http://u:p@a.b:80/c?d=e#f"}`},
		"absent":     {reason: "nil stays out", in: `{}`, out: `{}`},
		"null":       {reason: "null is nil", in: `{"url":null}`, out: `{}`},
		"empty":      {reason: "an empty string is an empty URL", in: `{"url":""}`, out: `{"url":""}`},
		"not string": {reason: "anything else is an error", in: `{"url":1}`, wantErr: true},
		"not a URL":  {reason: "so is what does not parse", in: `{"url":":"}`, wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var h holder
			err := json.Unmarshal([]byte(tc.in), &h)
			if (err != nil) != tc.wantErr {
				t.Fatalf("%s: got error %v", tc.reason, err)
			}
			if tc.wantErr {
				return
			}
			got, err := json.Marshal(h)
			if err != nil || string(got) != tc.out {
				t.Errorf("%s: got %s, %v", tc.reason, got, err)
			}
		})
	}
}

func TestURL(t *testing.T) {
	if u, err := ParseURL(""); u != nil || err != nil {
		t.Error("the empty string parses to nil")
	}
	if HTTP("a").String() != "http://a" || HTTPS("a").String() != "https://a" {
		t.Error("schemes")
	}
	var none *URL
	if !none.IsEmpty() || none.String() != "" || none.URL() != nil || none.DeepCopy() != nil || !(&URL{}).IsEmpty() {
		t.Error("nil must be safe")
	}
	ref := &URL{Path: "/x"}
	if got := HTTP("a").ResolveReference(ref).String(); got != "http://a/x" {
		t.Errorf("resolve: got %q", got)
	}
	u := HTTP("a")
	if c := u.DeepCopy(); c == u || *c != *u {
		t.Error("a copy is equal and another")
	}
}
