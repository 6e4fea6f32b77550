// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sharedmain

import (
	"context"
	"testing"

	"go.uber.org/zap"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/system"
	"weir.dev/pkg/webhook"
)

// hook is a reconciler that is also a webhook.
type hook struct{ reconcilerFunc }

func (hook) Path() string { return "/hook" }

func (hook) Admit(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return webhook.Allow()
}

// TestSteps goes through a start by hand, as a main would that needs something
// between the steps.
func TestSteps(t *testing.T) {
	server := newAPIServer(t, needed(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "config-logging"},
		Data:       map[string]string{"loglevel.component": "error"},
	})
	ctx, cancel := context.WithCancel(WithHADisabled(system.WithNamespace(t.Context(), "system")))
	defer cancel()
	ctx, startInformers := EnableInjectionOrDie(ctx, server.config())
	logger, level := SetupLoggerOrDie(ctx, "component")
	if level.Level() != zap.ErrorLevel {
		t.Errorf("level is %v, want that of the ConfigMap", level)
	}
	ctx = logging.WithLogger(ctx, logger)
	CheckK8sClientMinimumVersionOrDie(ctx, logger)
	cmw := SetupConfigMapWatchOrDie(ctx, logger)

	worked := make(chan string, 1)
	work := func(_ context.Context, key string) error { worked <- key; return nil }
	controllers, webhooks := ControllersAndWebhooksFromCtors(ctx, cmw, newController(work),
		func(context.Context, configmap.Watcher) *controller.Impl {
			return controller.NewImpl(hook{work}, logger, "hook")
		})
	if len(controllers) != 2 || len(webhooks) != 1 {
		t.Errorf("%d controllers, %d webhooks, want 2 and 1", len(controllers), len(webhooks))
	}
	level.SetLevel(zap.DebugLevel)
	WatchLoggingConfigOrDie(ctx, cmw, logger, level, "component")
	if err := cmw.Start(ctx.Done()); err != nil {
		t.Fatal(err)
	}
	if level.Level() != zap.ErrorLevel {
		t.Errorf("level is %v, want it back where the ConfigMap has it", level)
	}
	startInformers()
	ended := make(chan error, 1)
	go func() { ended <- controller.StartAll(ctx, controllers...) }()
	if key := <-worked; key != "once" {
		t.Errorf("worked on %q", key)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	cmw.Wait()
}

func TestMissingDependencyPanics(t *testing.T) {
	server := newAPIServer(t)
	ctx, _ := injection.Default.SetupInformers(testContext(t), server.config())
	cmw := SetupConfigMapWatchOrDie(ctx, logging.FromContext(ctx))
	defer func() {
		if recover() == nil {
			t.Error("a constructor that fails is a mistake in the program")
		}
	}()
	ControllersAndWebhooksFromCtors(ctx, cmw, returnsNil)
}
