// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"weir.dev/pkg/apis"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/injection/sharedmain"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/reconciler"
	"weir.dev/pkg/reconciler/generic"
	"weir.dev/pkg/system"
)

// hang is how long a test waits for what must come.
const hang = 2 * time.Minute

// copier is the reconciler of most tests.
type copier struct {
	before func(*Thing) error // called first, if set

	mu   sync.Mutex
	runs map[string]int
	gone map[string]bool
}

func newCopier() *copier { return &copier{runs: map[string]int{}, gone: map[string]bool{}} }

// ReconcileKind copies the value.
func (c *copier) ReconcileKind(_ context.Context, o *Thing) reconciler.Event {
	c.mu.Lock()
	c.runs[o.Name]++
	c.mu.Unlock()
	if c.before != nil {
		if err := c.before(o); err != nil {
			return err
		}
	}
	o.Status.Value = o.Spec.Value
	o.GetConditionSet().Manage(o.GetStatus()).MarkTrue(apis.ConditionReady)
	return nil
}

// ObserveDeletion implements reconciler.OnDeletionInterface.
func (c *copier) ObserveDeletion(_ context.Context, key types.NamespacedName) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone[key.Name] = true
	return nil
}

func (c *copier) runsOf(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs[name]
}

func (c *copier) isGone(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone[name]
}

// thingReconciler is what a reconciler of things must do.
type thingReconciler interface {
	ReconcileKind(ctx context.Context, o *Thing) reconciler.Event
}

// newThingController is the constructor of a component's controller of things.
func newThingController(r thingReconciler, options ...controller.OptionsFn) injection.ControllerConstructor {
	return func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		impl := generic.For(ctx, things, r, options...)
		if _, err := things.Informer(ctx).AddEventHandler(controller.HandleAll(impl.Enqueue)); err != nil {
			panic(err)
		}
		return impl
	}
}

// component is a running one.
type component struct {
	stop  context.CancelFunc
	ended chan struct{}
	err   error
	logs  *observer.ObservedLogs
}

// scoped returns a context whose component keeps to a namespace, for its
// ConfigMaps and leases as well.
func scoped(ctx context.Context, namespace string) context.Context {
	return injection.WithNamespaceScope(system.WithNamespace(ctx, namespace), namespace)
}

// start runs a component of ctors until the test ends; its error, if any, is
// the test's.
func start(ctx context.Context, t *testing.T, cfg *rest.Config, ctors ...injection.ControllerConstructor) *component {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	ctx, cancel := context.WithCancel(logging.WithLogger(ctx, zap.New(core).Sugar()))
	c := &component{stop: cancel, ended: make(chan struct{}), logs: logs}
	go func() {
		defer close(c.ended)
		c.err = sharedmain.Run(ctx, "failures", cfg, ctors...)
	}()
	t.Cleanup(func() { c.end(t) })
	return c
}

// end stops the component and waits for it.
func (c *component) end(t *testing.T) {
	t.Helper()
	c.stop()
	select {
	case <-c.ended:
	case <-time.After(hang):
		t.Fatal("the component does not stop")
	}
	if c.err != nil {
		t.Error(c.err)
	}
}

// mustRun fails the test if the component has ended by itself.
func (c *component) mustRun(t *testing.T) {
	t.Helper()
	select {
	case <-c.ended:
		t.Fatalf("the component ended: %v", c.err)
	default:
	}
}

// errors are what it logged as such.
func (c *component) errors() []observer.LoggedEntry {
	return c.logs.Filter(func(e observer.LoggedEntry) bool { return e.Level >= zapcore.ErrorLevel }).All()
}

// newNamespace makes a namespace for the test.
func newNamespace(ctx context.Context, t *testing.T, cfg *rest.Config) string {
	t.Helper()
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ns, err := kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "failures-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ns.Name
}
