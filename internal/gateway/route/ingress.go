// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package route

// Ref names an object.
type Ref struct{ Namespace, Name string }

// String returns namespace/name.
func (r Ref) String() string { return r.Namespace + "/" + r.Name }

// Ingress is what one object contributes to the table. It must not be changed once it was given to [Table.Apply].
type Ingress[T any] struct {
	Ref
	// Claimed is the time of creation in Unix nanoseconds: of two Ingresses that name a host, the older has it.
	Claimed int64
	// RedirectHTTPS answers requests to external rules on the external listener with a redirection.
	RedirectHTTPS bool
	Rules         []Rule[T]
}

// Rule serves some hosts, on the in-cluster listener only if it is ClusterLocal.
type Rule[T any] struct {
	// Hosts are as [CleanHost] returns them. "*.example.com" stands for every name that ends in ".example.com".
	Hosts        []string
	ClusterLocal bool
	Paths        []Path[T]
}

// Path is one branch of a rule.
type Path[T any] struct {
	// Prefix of the decoded URL path; "" matches all.
	Prefix string
	// Headers must all be present with exactly these first values.
	Headers     []Header
	RewriteHost string
	// Append is set on the request, before the Append of the split.
	Append []Header
	// Splits have percents that sum to 100.
	Splits []Split[T]
	// Deck deals the split of each request. It may be nil if there is only one split.
	Deck Deck
}

// Header is a header name in canonical form with its value.
type Header struct {
	Name string
	// Values holds one element. It is shared by all requests and never changed.
	Values []string
}

// Split is one share of the requests of a path.
type Split[T any] struct {
	Target  T
	Percent int
	Append  []Header
}

// Deck deals numbers from 0 to 99, each once in a hundred draws.
type Deck interface{ Draw() int }

// Pick draws the split that takes the next request, nil if there is none.
func (p *Path[T]) Pick() *Split[T] {
	if len(p.Splits) == 1 {
		return &p.Splits[0]
	}
	if len(p.Splits) == 0 || p.Deck == nil {
		return nil
	}
	card := p.Deck.Draw()
	for i := range p.Splits {
		if card -= p.Splits[i].Percent; card < 0 {
			return &p.Splits[i]
		}
	}
	return nil
}

func (p *Path[T]) matches(path string, headers map[string][]string) bool {
	if len(path) < len(p.Prefix) || path[:len(p.Prefix)] != p.Prefix {
		return false
	}
	for i := range p.Headers {
		got := headers[p.Headers[i].Name]
		if len(got) == 0 || got[0] != p.Headers[i].Values[0] {
			return false
		}
	}
	return true
}
