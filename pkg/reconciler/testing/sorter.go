// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// ObjectSorter keeps objects of many kinds in one indexer a kind, from which
// listers for tests can be made.
type ObjectSorter struct {
	cache map[reflect.Type]cache.Indexer
}

// NewObjectSorter makes a sorter for the kinds of a scheme.
func NewObjectSorter(scheme *runtime.Scheme) ObjectSorter {
	s := ObjectSorter{cache: map[reflect.Type]cache.Indexer{}}
	for _, t := range scheme.AllKnownTypes() {
		s.cache[t] = newIndexer()
	}
	return s
}

func newIndexer() cache.Indexer {
	return cache.NewIndexer(cache.MetaNamespaceKeyFunc,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
}

// AddObjects puts the objects into the indexers of their kinds. It panics on
// one of a kind that the scheme does not have.
func (o *ObjectSorter) AddObjects(objs ...runtime.Object) {
	for _, obj := range objs {
		if err := o.IndexerForObjectType(obj).Add(obj); err != nil {
			panic(fmt.Sprintf("adding %T: %v", obj, err))
		}
	}
}

// ObjectsForSchemeFunc returns the objects of the kinds that the function adds.
func (o *ObjectSorter) ObjectsForSchemeFunc(add func(*runtime.Scheme) error) []runtime.Object {
	scheme := runtime.NewScheme()
	if err := add(scheme); err != nil {
		panic(err)
	}
	return o.ObjectsForScheme(scheme)
}

// ObjectsForScheme returns the objects of a scheme's kinds.
func (o *ObjectSorter) ObjectsForScheme(scheme *runtime.Scheme) []runtime.Object {
	var objs []runtime.Object
	for _, t := range scheme.AllKnownTypes() {
		indexer, ok := o.cache[t]
		if !ok {
			continue
		}
		for _, item := range indexer.List() {
			objs = append(objs, item.(runtime.Object))
		}
	}
	return objs
}

// IndexerForObjectType returns the indexer of an object's kind.
func (o *ObjectSorter) IndexerForObjectType(obj runtime.Object) cache.Indexer {
	t := reflect.TypeOf(obj).Elem()
	indexer, ok := o.cache[t]
	if !ok {
		panic(fmt.Sprintf("the scheme does not have %s", t))
	}
	if _, err := meta.Accessor(obj); err != nil {
		panic(fmt.Sprintf("%s has no metadata: %v", t, err))
	}
	return indexer
}
