// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sharedmain

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	_ "weir.dev/pkg/client/injection/kube/informers/core/v1/pod" // linked, and asked for by nobody
	"weir.dev/pkg/client/injection/kube/informers/core/v1/service"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/system"
)

type reconcilerFunc func(ctx context.Context, key string) error

func (f reconcilerFunc) Reconcile(ctx context.Context, key string) error { return f(ctx, key) }

// newController makes a controller that watches Services, needs the ConfigMap
// called config, and runs f once.
func newController(f reconcilerFunc) injection.ControllerConstructor {
	return func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		service.Get(ctx)
		cmw.Watch("config", func(*corev1.ConfigMap) {})
		impl := controller.NewImpl(f, logging.FromContext(ctx), "test")
		impl.EnqueueKey(types.NamespacedName{Name: "once"})
		return impl
	}
}

func needed() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config"}}
}

func testContext(t *testing.T) context.Context {
	ctx := logging.WithLogger(t.Context(), zap.NewNop().Sugar())
	return WithHADisabled(system.WithNamespace(ctx, "system"))
}

// TestRun runs two components side by side, each against its own server: they
// watch what their controllers asked for, and end when told to.
func TestRun(t *testing.T) {
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			server := newAPIServer(t, needed())
			ctx, cancel := context.WithCancel(testContext(t))
			defer cancel()
			var working atomic.Bool
			err := Run(ctx, "component", server.config(), newController(func(ctx context.Context, _ string) error {
				working.Store(true)
				defer working.Store(false)
				for len(server.watches()) < 2 {
					runtime.Gosched()
				}
				cancel()
				return nil
			}))
			if err != nil {
				t.Errorf("Run: %v", err)
			}
			if working.Load() {
				t.Error("Run returned while a reconcile was working")
			}
			if d := cmp.Diff([]string{"configmaps", "services"}, server.watches()); d != "" {
				t.Errorf("watches (-want +got):\n%s", d)
			}
		})
	}
	wg.Wait()
}

func returnsNil(context.Context, configmap.Watcher) *controller.Impl { return nil }

func TestRunFails(t *testing.T) {
	idle := newController(func(context.Context, string) error { return nil })
	tests := map[string]struct {
		reason string
		server func(*testing.T) *apiServer
		ctor   injection.ControllerConstructor
		want   string
	}{
		"OldKubernetes": {
			reason: "an old version is refused before anything starts",
			server: func(t *testing.T) *apiServer {
				s := newAPIServer(t, needed())
				s.version = "v1.20.0"
				return s
			},
			ctor: idle,
			want: "1.20.0",
		},
		"NoConfigMap": {
			reason: "a ConfigMap that must be there is named",
			server: func(t *testing.T) *apiServer { return newAPIServer(t) },
			ctor:   idle,
			want:   `configmap "config" not found in namespace "system"`,
		},
		"NoController": {
			reason: "the constructor is named",
			server: func(t *testing.T) *apiServer { return newAPIServer(t, needed()) },
			ctor:   returnsNil,
			want:   "sharedmain.returnsNil",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := Run(testContext(t), "component", tc.server(t).config(), tc.ctor)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: Run() = %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

// TestLoggingConfig: a component without a logger has the one that the
// ConfigMap describes.
func TestLoggingConfig(t *testing.T) {
	server := newAPIServer(t, needed(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "config-logging"},
		Data:       map[string]string{"loglevel.component": "error"},
	})
	ctx, cancel := context.WithCancel(WithHADisabled(system.WithNamespace(t.Context(), "system")))
	defer cancel()
	err := Run(ctx, "component", server.config(), newController(func(ctx context.Context, _ string) error {
		if level := logging.FromContext(ctx).Level(); level != zap.ErrorLevel {
			t.Errorf("level is %v, want that of the ConfigMap", level)
		}
		cancel()
		return nil
	}))
	if err != nil {
		t.Errorf("Run: %v", err)
	}
}
