// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package configmap

import (
	"fmt"
	"reflect"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
)

// Logger is what a store says things to; zap's SugaredLogger is one.
type Logger interface {
	Debugf(template string, args ...any)
	Infof(template string, args ...any)
	Errorf(template string, args ...any)
}

// Constructors map a ConfigMap's name to the function that parses it, of the
// form func(*corev1.ConfigMap) (T, error).
type Constructors map[string]any

// UntypedStore holds the last good value of each of a set of ConfigMaps.
type UntypedStore struct {
	name         string
	logger       Logger
	constructors map[string]reflect.Value
	values       map[string]*atomic.Value // keys are fixed at construction
	onAfterStore []func(name string, value any)
}

// NewUntypedStore makes a store called name. onAfterStore are called after
// every new value. A constructor of another form panics: it is a mistake in
// the program.
func NewUntypedStore(name string, logger Logger, constructors Constructors, onAfterStore ...func(name string, value any)) *UntypedStore {
	s := &UntypedStore{
		name:         name,
		logger:       logger,
		constructors: make(map[string]reflect.Value, len(constructors)),
		values:       make(map[string]*atomic.Value, len(constructors)),
		onAfterStore: onAfterStore,
	}
	for cmName, constructor := range constructors {
		if err := ValidateConstructor(constructor); err != nil {
			panic(fmt.Sprintf("configmap: store %q, %q: %v", name, cmName, err))
		}
		s.constructors[cmName] = reflect.ValueOf(constructor)
		s.values[cmName] = &atomic.Value{}
	}
	return s
}

// ValidateConstructor tells whether a constructor is of the form
// func(*corev1.ConfigMap) (T, error).
func ValidateConstructor(constructor any) error {
	if constructor == nil {
		return fmt.Errorf("constructor is nil")
	}
	t := reflect.TypeOf(constructor)
	if t.Kind() != reflect.Func ||
		t.NumIn() != 1 || t.In(0) != reflect.TypeFor[*corev1.ConfigMap]() ||
		t.NumOut() != 2 || t.Out(1) != reflect.TypeFor[error]() {
		return fmt.Errorf("constructor must be a func(*corev1.ConfigMap) (T, error), got %s", t)
	}
	return nil
}

// WatchConfigs asks w for every ConfigMap of the store.
func (s *UntypedStore) WatchConfigs(w Watcher) {
	for name := range s.constructors {
		w.Watch(name, s.OnConfigChanged)
	}
}

// UntypedLoad returns the last good value of the ConfigMap called name, nil
// before there was one.
func (s *UntypedStore) UntypedLoad(name string) any {
	value, ok := s.values[name]
	if !ok {
		return nil
	}
	return value.Load()
}

// InitialError says that the first value of a ConfigMap does not parse, so that
// there is nothing to run with. A store panics with it; the watcher of a cluster
// returns it from Start.
type InitialError struct {
	// Store and ConfigMap are their names.
	Store, ConfigMap string
	// Err is why it does not parse.
	Err error
}

// Error implements error.
func (e *InitialError) Error() string {
	return fmt.Sprintf("initializing %s config %q: %v", e.Store, e.ConfigMap, e.Err)
}

// Unwrap returns why the ConfigMap does not parse.
func (e *InitialError) Unwrap() error { return e.Err }

// OnConfigChanged parses cm and stores the result. It panics with an
// *InitialError on a first value that does not parse; a later one is logged and
// the previous value stays.
func (s *UntypedStore) OnConfigChanged(cm *corev1.ConfigMap) {
	constructor, ok := s.constructors[cm.Name]
	if !ok {
		return
	}
	value, err := construct(constructor, cm)
	if err != nil {
		s.refuse(cm.Name, err)
		return
	}
	s.logger.Debugf("%s config %q was added or updated: %#v", s.name, cm.Name, value)
	s.values[cm.Name].Store(value)
	for _, f := range s.onAfterStore {
		f(cm.Name, value)
	}
}

func (s *UntypedStore) refuse(name string, err error) {
	if s.values[name].Load() == nil {
		panic(&InitialError{Store: s.name, ConfigMap: name, Err: err})
	}
	s.logger.Errorf("Error updating %s config %q, keeping the previous one: %v", s.name, name, err)
}

func construct(constructor reflect.Value, cm *corev1.ConfigMap) (any, error) {
	out := constructor.Call([]reflect.Value{reflect.ValueOf(cm)})
	err, _ := out[1].Interface().(error)
	return out[0].Interface(), err
}
