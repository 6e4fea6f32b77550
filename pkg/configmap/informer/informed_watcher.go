// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package informer watches the ConfigMaps of one namespace of a cluster.
package informer

import (
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	corev1informers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"weir.dev/pkg/configmap"
	"weir.dev/pkg/prune"
)

// NewInformedWatcher watches the ConfigMaps of namespace that meet all
// requirements.
func NewInformedWatcher(kc kubernetes.Interface, namespace string, reqs ...labels.Requirement) *InformedWatcher {
	return NewInformedWatcherFromFactory(informers.NewSharedInformerFactoryWithOptions(
		kc, 0,
		informers.WithNamespace(namespace),
		informers.WithTransform(prune.ManagedFields),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) {
			if len(reqs) > 0 {
				options.LabelSelector = labels.NewSelector().Add(reqs...).String()
			}
		}),
	), namespace)
}

// NewInformedWatcherFromFactory watches the ConfigMaps of namespace with an
// informer of the factory, which it starts.
func NewInformedWatcherFromFactory(factory informers.SharedInformerFactory, namespace string) *InformedWatcher {
	return &InformedWatcher{
		informer:  factory.Core().V1().ConfigMaps(),
		observers: configmap.ManualWatcher{Namespace: namespace},
		defaults:  map[string]*corev1.ConfigMap{},
		names:     map[string]bool{},
	}
}

// InformedWatcher is a watcher on an informer.
type InformedWatcher struct {
	informer  corev1informers.ConfigMapInformer
	observers configmap.ManualWatcher

	running sync.WaitGroup

	mu       sync.Mutex
	started  bool
	names    map[string]bool              // every ConfigMap that is watched
	defaults map[string]*corev1.ConfigMap // those that need not exist
}

var _ configmap.DefaultingWatcher = (*InformedWatcher)(nil)

// Watch implements configmap.Watcher. It panics after Start, since such an
// observer would have missed the first delivery.
func (w *InformedWatcher) Watch(name string, o ...configmap.Observer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watch(name, o)
}

// WatchWithDefault implements configmap.DefaultingWatcher. A second, different
// default for a name panics.
func (w *InformedWatcher) WatchWithDefault(cm corev1.ConfigMap, o ...configmap.Observer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	cm.Namespace = w.observers.Namespace
	if old, ok := w.defaults[cm.Name]; ok && !equality.Semantic.DeepEqual(old.Data, cm.Data) {
		panic(fmt.Sprintf("configmap: two defaults for %q", cm.Name))
	}
	w.defaults[cm.Name] = &cm
	w.watch(cm.Name, o)
}

func (w *InformedWatcher) watch(name string, o []configmap.Observer) {
	if w.started {
		panic(fmt.Sprintf("configmap: %q is watched after Start", name))
	}
	w.names[name] = true
	w.observers.Watch(name, o...)
}

// Start implements configmap.Watcher.
func (w *InformedWatcher) Start(stop <-chan struct{}) error {
	names, err := w.begin()
	if err != nil {
		return err
	}
	first := newFirstDeliveries(names)
	registration, err := w.informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { w.deliver(obj, first) },
		UpdateFunc: w.update,
		DeleteFunc: w.delete,
	})
	if err != nil {
		return fmt.Errorf("watching ConfigMaps: %w", err)
	}
	w.running.Go(func() { w.informer.Informer().Run(stop) })

	select {
	case <-registration.HasSyncedChecker().Done():
	case <-stop:
		return errors.New("stopped before the ConfigMaps were read")
	}
	return w.deliverDefaults(first)
}

// Wait returns once deliveries have ended, after the stop channel of Start was
// closed.
func (w *InformedWatcher) Wait() { w.running.Wait() }

func (w *InformedWatcher) begin() ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started {
		return nil, errors.New("the ConfigMap watcher is already started")
	}
	w.started = true
	names := make([]string, 0, len(w.names))
	for name := range w.names {
		names = append(names, name)
	}
	return names, nil
}

// deliverDefaults delivers the defaults of the ConfigMaps that do not exist; a
// missing one without default is an error.
func (w *InformedWatcher) deliverDefaults(first *firstDeliveries) error {
	for _, name := range first.missing() {
		if cm, ok := w.defaults[name]; ok {
			first.done(name, w.try(cm))
		}
	}
	errs := first.errors()
	for _, name := range first.missing() {
		errs = append(errs, fmt.Errorf("configmap %q not found in namespace %q", name, w.observers.Namespace))
	}
	return errors.Join(errs...)
}

func (w *InformedWatcher) deliver(obj any, first *firstDeliveries) {
	if cm, ok := obj.(*corev1.ConfigMap); ok && w.observers.Watches(cm.Name) {
		first.done(cm.Name, w.try(cm))
	}
}

// try delivers cm and returns the error of a store that could not start with it.
func (w *InformedWatcher) try(cm *corev1.ConfigMap) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *configmap.InitialError:
			err = r
		default:
			panic(r)
		}
	}()
	w.observers.OnChange(cm)
	return nil
}

// update delivers what changed; metadata alone, and resyncs, are no change.
func (w *InformedWatcher) update(oldObj, newObj any) {
	from, to := oldObj.(*corev1.ConfigMap), newObj.(*corev1.ConfigMap)
	if equality.Semantic.DeepEqual(from.Data, to.Data) && equality.Semantic.DeepEqual(from.BinaryData, to.BinaryData) {
		return
	}
	w.observers.OnChange(to)
}

// delete delivers the default again; without one the last value stays.
func (w *InformedWatcher) delete(obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	cm, ok := obj.(*corev1.ConfigMap)
	if !ok {
		return
	}
	if def, ok := w.defaults[cm.Name]; ok {
		w.observers.OnChange(def)
	}
}
