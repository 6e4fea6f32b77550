// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

type in = Ingress[string]

func rule(local bool, host string, paths ...Path[string]) Rule[string] {
	return Rule[string]{Hosts: []string{host}, ClusterLocal: local, Paths: paths}
}

func all(target string) Path[string] {
	return Path[string]{Splits: []Split[string]{{Target: target, Percent: 100}}}
}

func prefix(p, target string, headers ...Header) Path[string] {
	out := all(target)
	out.Prefix, out.Headers = p, headers
	return out
}

func header(name, value string) Header { return Header{name, []string{value}} }

func build(list ...*in) *Table[string] {
	t := New[string]()
	for _, i := range list {
		t = t.Apply(Change[string]{New: i})
	}
	return t
}

func match(t *Table[string], host, path string, headers map[string][]string, internal bool) string {
	p, redirect := t.Match(CleanHost(host), path, headers, internal)
	switch {
	case p == nil:
		return "none"
	case redirect:
		return "redirect"
	}
	return p.Pick().Target
}

func TestMatch(t *testing.T) {
	table := build(
		&in{Ref: Ref{"a", "site"}, Claimed: 2, Rules: []Rule[string]{
			rule(false, "site.test",
				all("default"),
				prefix("/api", "api"),
				prefix("/api/v1", "v1"),
				prefix("/api", "tagged", header("Knative-Serving-Tag", "blue")),
				prefix("", "both", header("Knative-Serving-Tag", "blue"), header("X-Who", "me")),
				prefix("", "one", header("Knative-Serving-Tag", "blue")),
			),
			rule(true, "site.a.svc.cluster.local", all("local")),
		}},
		&in{Ref: Ref{"b", "thief"}, Claimed: 3, Rules: []Rule[string]{rule(false, "site.test", all("stolen"))}},
		&in{Ref: Ref{"c", "secure"}, Claimed: 1, RedirectHTTPS: true, Rules: []Rule[string]{rule(false, "secure.test", all("secure"))}},
		&in{Ref: Ref{"d", "wild"}, Claimed: 1, Rules: []Rule[string]{rule(false, "*.test", all("wild")), rule(false, "*.deep.test", all("deep"))}},
		&in{Ref: Ref{"e", "two-views"}, Claimed: 1, Rules: []Rule[string]{rule(false, "views.test", all("outside")), rule(true, "views.test", all("inside"))}},
	)
	blue := map[string][]string{"Knative-Serving-Tag": {"blue"}}
	tests := map[string]struct {
		reason, host, path string
		headers            map[string][]string
		internal           bool
		want               string
	}{
		"Default":            {"the empty prefix matches all", "site.test", "/x", nil, false, "default"},
		"NoPath":             {"of OPTIONS *, for one", "site.test", "*", nil, false, "default"},
		"Prefix":             {"a longer prefix goes first", "site.test", "/api/x", nil, false, "api"},
		"LongestPrefix":      {"wherever it stands in the list", "site.test", "/api/v1/x", nil, false, "v1"},
		"Header":             {"of equal prefixes the one with more headers", "site.test", "/api", blue, false, "tagged"},
		"PrefixBeforeHeader": {"the most specific path goes first", "site.test", "/api/v1", blue, false, "v1"},
		"OneHeader":          {"all headers of a branch must match", "site.test", "/", blue, false, "one"},
		"MoreHeaders":        {"more headers win", "site.test", "/", map[string][]string{"Knative-Serving-Tag": {"blue"}, "X-Who": {"me"}}, false, "both"},
		"OtherValue":         {"values must be equal", "site.test", "/", map[string][]string{"Knative-Serving-Tag": {"blues"}}, false, "default"},
		"PortAndCase":        {"hosts are compared without port and case", "SITE.Test:8080", "/", nil, false, "default"},
		"LocalOutside":       {"a cluster-local host does not exist outside", "site.a.svc.cluster.local", "/", nil, false, "none"},
		"LocalInside":        {"but inside", "site.a.svc.cluster.local", "/", nil, true, "local"},
		"PublicInside":       {"the in-cluster listener serves public hosts too", "site.test", "/", nil, true, "default"},
		"Redirect":           {"only outside", "secure.test", "/", nil, false, "redirect"},
		"NoRedirectInside":   {"there is no certificate inside", "secure.test", "/", nil, true, "secure"},
		"Wildcard":           {"a name that nobody has", "new.test", "/", nil, false, "wild"},
		"WildcardDeep":       {"the nearest wildcard", "a.b.deep.test", "/", nil, false, "deep"},
		"WildcardNotItself":  {"*.test is not test", "test", "/", nil, false, "none"},
		"WildcardKey":        {"the key of a wildcard is no host", ".test", "/", nil, false, "none"},
		"Unknown":            {"", "example.com", "/", nil, false, "none"},
		"Empty":              {"", "", "/", nil, false, "none"},
		"TwoViewsOutside":    {"", "views.test", "/", nil, false, "outside"},
		"TwoViewsInside":     {"its own branches go before the public ones", "views.test", "/", nil, true, "inside"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := match(table, test.host, test.path, test.headers, test.internal); got != test.want {
				t.Errorf("%s, want %s: %s", got, test.want, test.reason)
			}
		})
	}
	if owner, ok := table.Owner("site.test"); !ok || owner != (Ref{"a", "site"}) {
		t.Errorf("owner %v", owner)
	}
}

// A host goes to the next claimant when its owner gives it up; a table that was taken before stays as it was.
func TestClaimsMoveOn(t *testing.T) {
	old := &in{Ref: Ref{"a", "first"}, Claimed: 1, Rules: []Rule[string]{rule(false, "h.test", all("first"))}}
	young := &in{Ref: Ref{"a", "second"}, Claimed: 2, Rules: []Rule[string]{rule(false, "h.test", all("second"))}}
	before := build(young, old)
	after := before.Apply(Change[string]{Old: old})
	gone := after.Apply(Change[string]{Old: young})
	for table, want := range map[*Table[string]]string{before: "first", after: "second", gone: "none"} {
		if got := match(table, "h.test", "/", nil, false); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// However a table came about, it answers like one that is built at once.
func TestApplyInAnyOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	now := map[Ref]*in{}
	table := New[string]()
	for step := range 2000 {
		ref := Ref{"ns", fmt.Sprint("i", random.IntN(20))}
		c := Change[string]{Old: now[ref]}
		if random.IntN(3) > 0 {
			c.New = &in{Ref: ref, Claimed: int64(random.IntN(3)), Rules: []Rule[string]{
				rule(random.IntN(2) == 0, fmt.Sprintf("h%d.test", random.IntN(30)), all(fmt.Sprint(step))),
				rule(false, "*.test", all(fmt.Sprint("wild", step))),
			}}
		}
		if table = table.Apply(c); c.New != nil {
			now[ref] = c.New
		} else {
			delete(now, ref)
		}
		if step%50 > 0 {
			continue
		}
		fresh := New[string]()
		for _, i := range now {
			fresh = fresh.Apply(Change[string]{New: i})
		}
		for h := range 32 {
			for _, internal := range []bool{false, true} {
				host := fmt.Sprintf("h%d.test", h)
				if got, want := match(table, host, "/", nil, internal), match(fresh, host, "/", nil, internal); got != want {
					t.Fatalf("step %d, %s: %s, want %s", step, host, got, want)
				}
			}
		}
	}
}

type fixed int

func (f fixed) Draw() int { return int(f) }

func TestPick(t *testing.T) {
	p := Path[string]{Splits: []Split[string]{{Target: "a", Percent: 70}, {Target: "none", Percent: 0}, {Target: "b", Percent: 30}}}
	for card, want := range map[int]string{0: "a", 69: "a", 70: "b", 99: "b"} {
		p.Deck = fixed(card)
		if got := p.Pick().Target; got != want {
			t.Errorf("card %d: %s, want %s", card, got, want)
		}
	}
	if (&Path[string]{}).Pick() != nil {
		t.Error("picked from nothing")
	}
}

func large(hosts int) *Table[string] {
	changes := make([]Change[string], hosts)
	for i := range changes {
		changes[i].New = &in{Ref: Ref{"ns", fmt.Sprint(i)}, Rules: []Rule[string]{rule(false, fmt.Sprintf("service-%d.default.example.com", i), all("t"))}}
	}
	return New[string]().Apply(changes...)
}

func TestMatchDoesNotAllocate(t *testing.T) {
	table := large(1000)
	headers := map[string][]string{"Accept": {"*/*"}}
	if n := testing.AllocsPerRun(100, func() {
		p, _ := table.Match(CleanHost("service-7.default.example.com:8080"), "/a", headers, false)
		p.Pick()
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkMatch(b *testing.B) {
	table := large(10_000)
	headers := map[string][]string{"Accept": {"*/*"}}
	b.ReportAllocs()
	for b.Loop() {
		p, _ := table.Match(CleanHost("service-7.default.example.com:8080"), "/a", headers, false)
		p.Pick()
	}
}

// One change in a table of ten thousand hosts.
func BenchmarkApply(b *testing.B) {
	table := large(10_000)
	i := &in{Ref: Ref{"ns", "7"}, Rules: []Rule[string]{rule(false, "service-7.default.example.com", all("t"))}}
	b.ReportAllocs()
	for b.Loop() {
		table = table.Apply(Change[string]{Old: i, New: i})
	}
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"a.test", "A.test:80", "[::1]:80", "[::1]", "::1", ".", ":", "a.test.", "*.test", "a..test", "\x00"} {
		f.Add(s, "/")
	}
	table := build(&in{Ref: Ref{"a", "b"}, Rules: []Rule[string]{rule(false, "a.test", all("a")), rule(false, "*.test", prefix("/x", "w"))}})
	f.Fuzz(func(t *testing.T, host, path string) {
		h := CleanHost(host)
		if again := CleanHost(h); len(again) > len(h) {
			t.Errorf("%q grows to %q", h, again)
		}
		p, _ := table.Match(h, path, nil, false)
		if p != nil && h != "a.test" && (len(h) < 6 || h[len(h)-5:] != ".test") {
			t.Errorf("%q is served", host)
		}
	})
}
