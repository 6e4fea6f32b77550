// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"syscall"
	"testing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"

	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/injection/sharedmain"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/network"
	"weir.dev/pkg/profiling"
	"weir.dev/pkg/signals"
)

type (
	ctors = []injection.ControllerConstructor
)

// The functions that take a process over: one is called by program, below.
var (
	_ func(string, ...injection.ControllerConstructor)                                = sharedmain.Main
	_ func(context.Context, string, ...injection.ControllerConstructor)               = sharedmain.MainWithContext
	_ func(context.Context, string, ...injection.NamedControllerConstructor)          = sharedmain.MainNamed
	_ func(context.Context, string, *rest.Config, ...injection.ControllerConstructor) = sharedmain.MainWithConfig
	_ func(context.Context, string, ...injection.ControllerConstructor)               = sharedmain.WebhookMainWithContext
	_ func(context.Context, string, *rest.Config, ...injection.ControllerConstructor) = sharedmain.WebhookMainWithConfig
	_ func(context.Context, *rest.Config) (context.Context, func())                   = sharedmain.EnableInjectionOrDie
)

type reconcilerFunc func(ctx context.Context, key string) error

func (f reconcilerFunc) Reconcile(ctx context.Context, key string) error { return f(ctx, key) }

// once makes a controller that works on one key.
func once(work func(context.Context, *controller.Impl)) injection.ControllerConstructor {
	return func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		var impl *controller.Impl
		impl = controller.NewContext(ctx, reconcilerFunc(func(ctx context.Context, _ string) error {
			work(ctx, impl)
			return nil
		}), controller.ControllerOptions{WorkQueueName: "once", Logger: logging.FromContext(ctx)})
		impl.EnqueueKey(key("ns", "once"))
		return impl
	}
}

// program is the main function of TestMainNamed: its one controller that is not
// disabled says what it sees and has the process end.
func program() {
	ctx := signals.NewContext()
	fmt.Println("a second handler panics:", panics(func() { signals.SetupSignalHandler() }))
	sharedmain.MainNamed(sharedmain.WithHealthProbesDisabled(ctx), "component",
		injection.NamedControllerConstructor{Name: "one", ControllerConstructor: once(func(ctx context.Context, impl *controller.Impl) {
			fmt.Println("threads:", impl.Concurrency)
			fmt.Println("without leader election:", sharedmain.IsHADisabled(ctx))
			fmt.Println("domain:", network.GetClusterDomainName())
			_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
		})},
		injection.NamedControllerConstructor{Name: "two", ControllerConstructor: func(context.Context, configmap.Watcher) *controller.Impl {
			panic("it is disabled")
		}},
	)
	fmt.Println("ended")
}

func TestMainNamed(t *testing.T) {
	server := newAPIServer(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0],
		"--server="+server.URL, "--kubeconfig=", "--cluster=", "--disable-ha", "--disable-controllers=two,three", "--kube-api-qps=10", "--kube-api-burst=20", "--v=1")
	cmd.Env = append(os.Environ(), childEnv+"=1", "SYSTEM_NAMESPACE=ns", "HOME="+t.TempDir(), "KUBERNETES_MIN_VERSION=v1.30.0",
		"K_THREADS_PER_CONTROLLER=3", "CLUSTER_DOMAIN=example.com", "PROFILING_PORT="+strconv.Itoa(freePort(t)))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the program: %v\n%s%s", err, out, stderr.String())
	}
	for _, want := range []string{"a second handler panics: true", "threads: 3", "without leader election: true", "domain: example.com", "ended"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the program does not say %q:\n%s", want, out)
		}
	}
}

// TestMainWithConfig runs a component in this process until its context ends.
func TestMainWithConfig(t *testing.T) {
	t.Setenv("SYSTEM_NAMESPACE", "ns")
	t.Setenv("KUBERNETES_MIN_VERSION", "v1.30.0")
	t.Setenv("PROFILING_PORT", strconv.Itoa(freePort(t)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx = sharedmain.WithHADisabled(sharedmain.WithHealthProbesDisabled(ctx))
	ctx = sharedmain.WithOTelViews(ctx, sdkmetric.NewView(sdkmetric.Instrument{Name: "*"}, sdkmetric.Stream{AttributeFilter: nil}))
	worked := false
	sharedmain.MainWithConfig(ctx, "component", &rest.Config{Host: newAPIServer(t).URL}, once(func(context.Context, *controller.Impl) {
		worked = true
		cancel()
	}))
	if !worked {
		t.Error("the controller did not work")
	}
}

// TestStartByHand makes the steps of a start itself.
func TestStartByHand(t *testing.T) {
	t.Setenv("SYSTEM_NAMESPACE", "ns")
	t.Setenv("KUBERNETES_MIN_VERSION", "v1.30.0")
	server := newAPIServer(t, configMap("config-logging", map[string]string{"loglevel.component": "error"}),
		configMap("config-leader-election", map[string]string{"buckets": "3"}),
		configMap("config-observability", map[string]string{"runtime-profiling": "enabled"}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx, startInformers := sharedmain.EnableInjectionOrDie(ctx, &rest.Config{Host: server.URL})
	loggingConfig, err := sharedmain.GetLoggingConfig(ctx)
	if err != nil || loggingConfig.LoggingLevel["component"] != zap.ErrorLevel {
		t.Errorf("GetLoggingConfig: %v, %v", loggingConfig, err)
	}
	leaders, err := sharedmain.GetLeaderElectionConfig(ctx)
	if err != nil || leaders.Buckets != 3 {
		t.Errorf("GetLeaderElectionConfig: %v, %v", leaders, err)
	}
	if _, err := sharedmain.GetObservabilityConfig(ctx); err != nil {
		t.Errorf("GetObservabilityConfig: %v", err)
	}
	logger, level := sharedmain.SetupLoggerOrDie(ctx, "component")
	if level.Level() != zap.ErrorLevel {
		t.Errorf("the level is %v", level)
	}
	ctx = logging.WithLogger(ctx, logger)
	sharedmain.CheckK8sClientMinimumVersionOrDie(ctx, logger)
	providers := sharedmain.SetupObservabilityOrDie(ctx, "component", logger)
	defer func() {
		if err := providers.Shutdown(context.WithoutCancel(ctx)); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
	}()
	profiles := profiling.NewHandler(logger, false)
	cmw := sharedmain.SetupConfigMapWatchOrDie(ctx, logger)
	sharedmain.WatchLoggingConfigOrDie(ctx, cmw, logger, level, "component")
	sharedmain.WatchObservabilityConfigOrDie(ctx, cmw, profiles)
	controllers, webhooks := sharedmain.ControllersAndWebhooksFromCtors(ctx, cmw, ctors{once(func(context.Context, *controller.Impl) { cancel() })}...)
	if len(controllers) != 1 || len(webhooks) != 0 {
		t.Errorf("%d controllers, %d webhooks", len(controllers), len(webhooks))
	}
	if err := cmw.Start(ctx.Done()); err != nil {
		t.Fatal(err)
	}
	startInformers()
	if err := controller.StartAll(ctx, controllers...); err != nil {
		t.Error(err)
	}
	cmw.Wait()
	w := httptest.NewRecorder()
	if profiles.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/debug/pprof/cmdline", nil)); w.Code != http.StatusOK {
		t.Errorf("profiles are enabled, the answer is %d", w.Code)
	}
}

// newAPIServer answers what a component asks at its start. Watches hang.
func newAPIServer(t *testing.T, cms ...*corev1.ConfigMap) *httptest.Server {
	list := &corev1.ConfigMapList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}, ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for _, cm := range cms {
		cm.TypeMeta, cm.ResourceVersion = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, "1"
		list.Items = append(list.Items, *cm)
	}
	reply := func(w http.ResponseWriter, status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, k8sversion.Info{GitVersion: "v1.31.0"})
	})
	mux.HandleFunc("GET /api/v1/namespaces/ns/configmaps/{name}", func(w http.ResponseWriter, r *http.Request) {
		for _, cm := range list.Items {
			if cm.Name == path.Base(r.URL.Path) {
				reply(w, http.StatusOK, cm)
				return
			}
		}
		reply(w, http.StatusNotFound, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound})
	})
	mux.HandleFunc("GET /api/v1/namespaces/ns/configmaps", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.FormValue("sendInitialEvents") != "":
			http.Error(w, "streaming lists are not served", http.StatusUnprocessableEntity)
		case r.FormValue("watch") != "":
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			reply(w, http.StatusOK, list)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}
