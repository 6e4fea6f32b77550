// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package crdgen

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

const modulePath = "weir.dev/"

// Docs are the first sentences of what types and fields say about themselves:
// ours in their source, those of Kubernetes in their SwaggerDoc methods.
type Docs struct {
	// byName is keyed by package path, type, and field ("" for the type).
	byName map[[3]string]string
}

// LoadDocs reads the source of our packages (import paths) below the root of
// the repository.
func LoadDocs(root string, packages ...string) (Docs, error) {
	docs := Docs{byName: map[[3]string]string{}}
	for _, pkg := range packages {
		if err := docs.load(pkg, filepath.Join(root, strings.TrimPrefix(pkg, modulePath))); err != nil {
			return Docs{}, fmt.Errorf("read %s: %w", pkg, err)
		}
	}
	return docs, nil
}

func (d Docs) load(pkg, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok {
				d.declaration(pkg, gen)
			}
		}
	}
	return nil
}

func (d Docs) declaration(pkg string, gen *ast.GenDecl) {
	for _, spec := range gen.Specs {
		ts, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		d.byName[[3]string{pkg, ts.Name.Name, ""}] = sentence(gen.Doc.Text())
		st, ok := ts.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, field := range st.Fields.List {
			for _, name := range namesOf(field) {
				d.byName[[3]string{pkg, ts.Name.Name, name}] = sentence(field.Doc.Text())
			}
		}
	}
}

// namesOf are the names of a field; that of an embedded one is its type's.
func namesOf(field *ast.Field) []string {
	var names []string
	for _, name := range field.Names {
		names = append(names, name.Name)
	}
	if len(names) > 0 {
		return names
	}
	switch t := field.Type.(type) {
	case *ast.Ident:
		return []string{t.Name}
	case *ast.SelectorExpr:
		return []string{t.Sel.Name}
	default:
		return nil
	}
}

// Type returns the sentence of a type of ours.
func (d Docs) Type(t reflect.Type) string { return d.byName[[3]string{t.PkgPath(), t.Name(), ""}] }

// Field returns the sentence of a field of t.
func (d Docs) Field(t reflect.Type, f reflect.StructField) string {
	if own, ok := d.byName[[3]string{t.PkgPath(), t.Name(), f.Name}]; ok {
		return own
	}
	documented, ok := reflect.Zero(t).Interface().(interface{ SwaggerDoc() map[string]string })
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return sentence(documented.SwaggerDoc()[name])
}

// sentence returns the first sentence, on one line.
func sentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for i := 0; i < len(text); i++ {
		if text[i] != '.' || (i+1 < len(text) && text[i+1] != ' ') || endsAbbreviation(text[:i+1]) {
			continue
		}
		return text[:i+1]
	}
	return text
}

func endsAbbreviation(s string) bool {
	return strings.HasSuffix(s, "e.g.") || strings.HasSuffix(s, "i.e.")
}
