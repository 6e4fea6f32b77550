// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"path"
	"slices"
)

// artefact is one file to write.
type artefact struct {
	path     string // below the output
	template string
	data     any
}

// shared is what all templates know.
type shared struct {
	Config
}

// typed is what the templates of one kind know.
type typed struct {
	Config
	kind
}

// artefacts lists the files for the kinds.
func artefacts(cfg Config, kinds []kind) []artefact {
	var list []artefact
	if slices.ContainsFunc(kinds, func(k kind) bool { return k.Client }) {
		list = sharedArtefacts(shared{Config: cfg})
	}
	for _, k := range kinds {
		data := typed{Config: cfg, kind: k}
		if k.Informer {
			list = append(list, informerArtefacts(k, data)...)
		}
		if k.Reconciler && (k.Informer || !k.Client) {
			list = append(list, reconcilerArtefacts(k, data)...)
		}
		if k.Duck {
			list = append(list, duckArtefacts(k, data)...)
		}
	}
	return list
}

// sharedArtefacts are those that informers and reconcilers are made with.
func sharedArtefacts(common shared) []artefact {
	return []artefact{
		{"client/client.go", "client", common},
		{"client/fake/fake.go", "client_fake", common},
		{"informers/factory/factory.go", "factory", common},
		{"informers/factory/fake/fake.go", "factory_fake", common},
		{"informers/factory/filtered/filtered_factory.go", "filtered_factory", common},
		{"informers/factory/filtered/fake/fake_filtered_factory.go", "filtered_factory_fake", common},
	}
}

func duckArtefacts(k kind, data typed) []artefact {
	dir := path.Join("ducks", k.Path())
	return []artefact{
		{path.Join(dir, k.Lower()+".go"), "duck", data},
		{path.Join(dir, "fake", "fake.go"), "duck_fake", data},
	}
}

func informerArtefacts(k kind, data typed) []artefact {
	dir := path.Join("informers", k.Path())
	return []artefact{
		{path.Join(dir, k.Lower()+".go"), "informer", data},
		{path.Join(dir, "fake", "fake.go"), "informer_fake", data},
		{path.Join(dir, "filtered", k.Lower()+".go"), "filtered_informer", data},
		{path.Join(dir, "filtered", "fake", "fake.go"), "filtered_informer_fake", data},
	}
}

func reconcilerArtefacts(k kind, data typed) []artefact {
	dir := path.Join("reconciler", k.Path())
	controller := "controller"
	if !k.Client {
		controller = "controller_generic"
	}
	list := []artefact{
		{path.Join(dir, "controller.go"), controller, data},
		{path.Join(dir, "reconciler.go"), "reconciler", data},
	}
	if k.Stubs {
		list = append(list,
			artefact{path.Join(dir, "stubs", "controller.go"), "stub_controller", data},
			artefact{path.Join(dir, "stubs", "reconciler.go"), "stub_reconciler", data})
	}
	return list
}
