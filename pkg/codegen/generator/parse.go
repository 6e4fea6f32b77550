// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// parse reads the kinds of the input packages, in the order of their paths.
func parse(cfg Config) ([]kind, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax,
		Fset: token.NewFileSet(),
	}, cfg.InputDirs...)
	if err != nil {
		return nil, fmt.Errorf("loading the input packages: %w", err)
	}
	var kinds []kind
	for _, pkg := range loaded {
		if err := errorsOf(pkg); err != nil {
			return nil, err
		}
		found, err := kindsOf(cfg, pkg)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, found...)
	}
	slices.SortFunc(kinds, func(a, b kind) int { return cmp.Compare(a.Path(), b.Path()) })
	return kinds, nil
}

func errorsOf(pkg *packages.Package) error {
	errs := make([]error, 0, len(pkg.Errors))
	for _, err := range pkg.Errors {
		errs = append(errs, fmt.Errorf("package %s: %w", pkg.PkgPath, err))
	}
	return errors.Join(errs...)
}

func kindsOf(cfg Config, pkg *packages.Package) ([]kind, error) {
	base := groupVersion(pkg)
	var kinds []kind
	for _, file := range pkg.Syntax {
		for _, decl := range file.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				t := spec.(*ast.TypeSpec)
				marks := parseMarkers(commentsOf(pkg.Fset, file, gen, t.Doc)...)
				k, ok, err := newKind(cfg, base, t, marks)
				if err != nil {
					return nil, fmt.Errorf("%s.%s: %w", pkg.PkgPath, t.Name.Name, err)
				}
				if ok {
					kinds = append(kinds, k)
				}
			}
		}
	}
	return kinds, nil
}

// groupVersion fills in what all kinds of a package share.
func groupVersion(pkg *packages.Package) kind {
	k := kind{Package: pkg.PkgPath, Version: path.Base(pkg.PkgPath)}
	groupDir := path.Base(path.Dir(pkg.PkgPath))
	k.Dir = path.Join(groupDir, k.Version)

	marks := markers{}
	for _, file := range pkg.Syntax {
		for key, values := range parseMarkers(aboveClause(file)...) {
			marks[key] = append(marks[key], values...)
		}
	}
	k.Group = groupDir
	if marks.has("groupName") {
		k.Group = marks.first("groupName")
	}
	k.GroupGo = marks.first("groupGoName")
	if k.GroupGo == "" {
		first, _, _ := strings.Cut(cmp.Or(k.Group, groupDir), ".")
		k.GroupGo = exported(first)
	}
	return k
}

// aboveClause returns the comments above the package clause: markers may stand
// apart from the one that documents the package.
func aboveClause(file *ast.File) []*ast.CommentGroup {
	i := slices.IndexFunc(file.Comments, func(g *ast.CommentGroup) bool { return g.Pos() > file.Package })
	if i < 0 {
		return file.Comments
	}
	return file.Comments[:i]
}

// newKind returns the kind of a type, if anything is to be generated for it.
func newKind(cfg Config, k kind, t *ast.TypeSpec, marks markers) (kind, bool, error) {
	structure, ok := t.Type.(*ast.StructType)
	reconciler, err := marks.reconcilerOptions()
	k.Kind = t.Name.Name
	k.Client, k.Duck = ok && marks.has("genclient"), marks.has("genduck")
	k.Reconciler = ok && (reconciler.wanted || slices.Contains(cfg.ForceReconcilers, k.Kind))
	if err != nil || !k.Client && !k.Duck && !k.Reconciler || !wanted(cfg.Kinds, k) {
		return kind{}, false, err
	}
	k.Plural = plural(k.Kind, cfg.Plurals)
	if !ok {
		return k, true, nil // a shape that is no struct
	}
	k.Namespaced = !marks.has("genclient:nonNamespaced")
	k.HasStatus = hasField(structure, "Status")
	k.StatusClient = k.HasStatus && !marks.has("genclient:noStatus") && marks.verb("updateStatus")
	k.Informer = k.Client && marks.verb("list") && marks.verb("watch")
	k.ClassKeys, k.Stubs = reconciler.classKeys, reconciler.stubs
	k.KRShaped = k.HasStatus && reconciler.krShaped
	if k.Reconciler && !k.Client && k.Classes() {
		return kind{}, false, errors.New("several annotations for the class need +genclient")
	}
	return k, true, nil
}

func wanted(only []string, k kind) bool {
	return len(only) == 0 || slices.Contains(only, k.Kind) || slices.Contains(only, k.Dir+"."+k.Kind)
}

func hasField(structure *ast.StructType, name string) bool {
	for _, field := range structure.Fields.List {
		for _, ident := range field.Names {
			if ident.Name == name {
				return true
			}
		}
	}
	return false
}
