// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"path"
	"strings"
)

// kind is one API type that something is generated for.
type kind struct {
	Kind    string // Service
	Plural  string // Services
	Group   string // serving.knative.dev
	GroupGo string // Serving
	Version string // v1

	Dir     string // serving/v1, below the packages of listers and informers
	Package string // import path of the type

	// Client tells whether there is a typed client, Duck whether the type is a
	// shape that other kinds have.
	Client, Duck bool

	Namespaced bool
	HasStatus  bool
	// StatusClient tells whether the typed client has UpdateStatus.
	StatusClient bool
	Informer     bool // it can be listed and watched

	Reconciler bool
	ClassKeys  []string
	KRShaped   bool
	Stubs      bool
}

// VersionGo is the version as part of a Go name, V1.
func (k kind) VersionGo() string { return exported(k.Version) }

// Lower is the kind as a package name, service.
func (k kind) Lower() string { return strings.ToLower(k.Kind) }

// Resource is the plural as in URLs, services.
func (k kind) Resource() string { return strings.ToLower(k.Plural) }

// Path is where the kind's packages are below informers and reconciler.
func (k kind) Path() string { return path.Join(k.Dir, k.Lower()) }

// Alias is the import name of the kind's package and of those named like it.
func (k kind) Alias() string { return path.Base(k.Package) }

// HasClass tells whether objects of the kind have a class.
func (k kind) HasClass() bool { return len(k.ClassKeys) > 0 }

// Classes tells whether several annotations may name the class.
func (k kind) Classes() bool { return len(k.ClassKeys) > 1 }

func exported(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// plural follows the rules that client-gen names resources by.
func plural(singular string, exceptions map[string]string) string {
	if p, ok := exceptions[singular]; ok {
		return p
	}
	switch {
	case hasSuffix(singular, "s", "x", "z", "ch", "sh"):
		return singular + "es"
	case strings.HasSuffix(singular, "y") && !hasSuffix(singular, "ay", "ey", "iy", "oy", "uy"):
		return strings.TrimSuffix(singular, "y") + "ies"
	case strings.HasSuffix(singular, "fe"):
		return strings.TrimSuffix(singular, "fe") + "ves"
	case strings.HasSuffix(singular, "f"):
		return strings.TrimSuffix(singular, "f") + "ves"
	}
	return singular + "s"
}

func hasSuffix(s string, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}
