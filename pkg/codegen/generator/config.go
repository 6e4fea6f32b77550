// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package generator writes the accessors of clients and informers and the
// typed facades of reconcilers, from the markers on API types. It parses each
// input once, without type-checking, and holds no behaviour of reconcilers:
// that is in weir.dev/pkg/reconciler/engine.
package generator

import (
	"errors"
	"flag"
	"fmt"
	"strings"
)

// Config says what to generate from what to where.
type Config struct {
	// InputDirs are the packages of API types.
	InputDirs []string
	// OutputPackage is the import path below which packages are written, and
	// OutputDir its directory.
	OutputPackage string
	OutputDir     string
	// HeaderFile begins every file; empty means no header.
	HeaderFile string

	// VersionedClientset, ExternalInformers and Listers are the packages of
	// what client-gen, informer-gen and lister-gen wrote.
	VersionedClientset string
	ExternalInformers  string
	Listers            string

	// ForceReconcilers are kinds to treat as marked +genreconciler.
	ForceReconcilers []string
	// Kinds restricts the kinds to these, each Kind or group/version.Kind.
	Kinds []string
	// Plurals are exceptions from the rules of plurals, by kind.
	Plurals map[string]string
	// NoInit leaves it to the importer to register informers.
	NoInit bool
}

// ParseFlags reads a Config from the command line.
func ParseFlags(args []string) (Config, error) {
	cfg := Config{Plurals: map[string]string{"Endpoints": "Endpoints"}}
	fs := flag.NewFlagSet("injection-gen", flag.ContinueOnError)
	list := func(name, usage string, to *[]string) {
		fs.Func(name, usage, func(s string) error { *to = append(*to, split(s)...); return nil })
	}
	list("input-dirs", "Comma-separated packages of API types.", &cfg.InputDirs)
	list("force-genreconciler-kinds", "Comma-separated kinds to treat as marked +genreconciler.", &cfg.ForceReconcilers)
	list("kinds", "Comma-separated kinds (Kind or group/version.Kind) to generate for; empty means all.", &cfg.Kinds)
	fs.StringVar(&cfg.OutputPackage, "output-package", "", "Import path of the output.")
	fs.StringVar(&cfg.OutputDir, "output-dir", "", "Directory of the output.")
	fs.StringVar(&cfg.HeaderFile, "go-header-file", "", "File whose text begins every output file.")
	fs.StringVar(&cfg.VersionedClientset, "versioned-clientset-package", "", "Package of the clientset.")
	fs.StringVar(&cfg.ExternalInformers, "external-versions-informers-package", "", "Package of the informers.")
	fs.StringVar(&cfg.Listers, "listers-package", "", "Package of the listers.")
	fs.BoolVar(&cfg.NoInit, "disable-informer-init", false, "Do not register informers in init; export WithInformer.")
	fs.Func("plural-exceptions", "Comma-separated Type:Plural.", cfg.addPlurals)
	if err := fs.Parse(args); err != nil {
		return Config{}, err
	}
	cfg.InputDirs = append(cfg.InputDirs, fs.Args()...)
	return cfg, cfg.validate()
}

func (c *Config) addPlurals(s string) error {
	for _, pair := range split(s) {
		singular, plural, ok := strings.Cut(pair, ":")
		if !ok {
			return fmt.Errorf("want Type:Plural, got %q", pair)
		}
		c.Plurals[singular] = plural
	}
	return nil
}

func (c *Config) validate() error {
	switch {
	case len(c.InputDirs) == 0:
		return errors.New("--input-dirs is required")
	case c.OutputPackage == "" || c.OutputDir == "":
		return errors.New("--output-package and --output-dir are required")
	case c.VersionedClientset == "" || c.ExternalInformers == "":
		return errors.New("--versioned-clientset-package and --external-versions-informers-package are required")
	}
	return nil
}

func split(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}
