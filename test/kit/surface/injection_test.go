// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	apiextensionsclient "weir.dev/pkg/client/injection/apiextensions/client"
	kubeclient "weir.dev/pkg/client/injection/kube/client"
	fakekubeclient "weir.dev/pkg/client/injection/kube/client/fake"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/injection/clients/dynamicclient"
	namespacedsecrets "weir.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	_ "weir.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret/fake" // for namespacedsecrets
)

var (
	_ func(context.Context) kubernetes.Interface    = kubeclient.Get
	_ func(context.Context) dynamic.Interface       = dynamicclient.Get
	_ func(context.Context) apiextensions.Interface = apiextensionsclient.Get

	_ injection.Interface                                               = injection.Default
	_ func(context.Context, *rest.Config) (context.Context, func())     = injection.EnableInjectionOrDie
	_ func() *rest.Config                                               = injection.ParseAndGetRESTConfigOrDie // of a command line: environment_test.go
	_ func(string, string) (*rest.Config, error)                        = injection.GetRESTConfig
	_ func(context.Context, int) error                                  = injection.ServeHealthProbes
	_ func(context.Context, http.HandlerFunc) context.Context           = injection.AddReadiness
	_ func(context.Context, http.HandlerFunc) context.Context           = injection.AddLiveness
	_ func(ctx context.Context, cmw configmap.Watcher) *controller.Impl = injection.ControllerConstructor(nil)
)

// stepsKey is where a context has the list of what was set up.
type stepsKey struct{}

func step(ctx context.Context, name string) context.Context {
	if steps, ok := ctx.Value(stepsKey{}).(*[]string); ok {
		*steps = append(*steps, name)
	}
	return ctx
}

// idle is an informer of nothing.
type idle struct{}

func (idle) Run(stop <-chan struct{}) { <-stop }
func (idle) HasSynced() bool          { return true }

// A package that is handwritten registers what it injects, in any order.
func init() {
	var (
		filtered injection.FilteredInformersInjector = func(ctx context.Context) (context.Context, []controller.Informer) {
			return step(ctx, "filtered"), []controller.Informer{idle{}, idle{}}
		}
		informer injection.InformerInjector = func(ctx context.Context) (context.Context, controller.Informer) {
			return step(ctx, "informer"), idle{}
		}
		duck    injection.DuckFactoryInjector     = func(ctx context.Context) context.Context { return step(ctx, "duck") }
		factory injection.InformerFactoryInjector = func(ctx context.Context) context.Context { return step(ctx, "factory") }
		client  injection.ClientInjector          = func(ctx context.Context, _ *rest.Config) context.Context {
			return step(ctx, "client")
		}
		fetcher injection.ClientFetcher = func(context.Context) interface{} { return "fetched" }
	)
	injection.Fake.RegisterFilteredInformers(filtered)
	injection.Fake.RegisterInformer(informer)
	injection.Fake.RegisterDuck(duck)
	injection.Fake.RegisterInformerFactory(factory)
	injection.Fake.RegisterClient(client)
	injection.Fake.RegisterClientFetcher(fetcher)
}

func TestSetUpOrder(t *testing.T) {
	r := injection.Fake
	for what, n := range map[string]int{
		"clients": len(r.GetClients()), "factories": len(r.GetInformerFactories()), "ducks": len(r.GetDucks()),
		"informers": len(r.GetInformers()), "filtered": len(r.GetFilteredInformers()),
	} {
		if n < 1 {
			t.Errorf("no %s are registered", what)
		}
	}
	var steps []string
	ctx, informers := r.SetupInformers(context.WithValue(t.Context(), stepsKey{}, &steps), &rest.Config{Host: "host"})
	if d := cmp.Diff([]string{"client", "factory", "duck", "informer", "filtered"}, steps); d != "" {
		t.Errorf("order (-want +got):\n%s", d)
	}
	if len(informers) < 3 {
		t.Errorf("got %d informers, want those that were injected among them", len(informers))
	}
	if got := injection.GetConfig(ctx); got == nil || got.Host != "host" {
		t.Errorf("the configuration of the context is %v", got)
	}
	if !slices.Contains(r.FetchAllClients(ctx), any("fetched")) {
		t.Error("the fetched client is missing")
	}
}

func TestInjectionContext(t *testing.T) {
	ctx := t.Context()
	if injection.HasNamespaceScope(ctx) || injection.GetNamespaceScope(ctx) != "" || injection.GetConfig(ctx) != nil || injection.GetResourceVersion(ctx) != "" {
		t.Error("a context says nothing by itself")
	}
	cfg := &rest.Config{}
	ctx = injection.WithResourceVersion(injection.WithConfig(injection.WithNamespaceScope(ctx, "ns"), cfg), "7")
	if !injection.HasNamespaceScope(ctx) || injection.GetNamespaceScope(ctx) != "ns" || injection.GetConfig(ctx) != cfg || injection.GetResourceVersion(ctx) != "7" {
		t.Error("a context says what it was given")
	}
}

// TestStockClients: each accessor gives its client, the same one each time.
func TestStockClients(t *testing.T) {
	ctx, start := injection.EnableInjectionOrDie(t.Context(), &rest.Config{Host: "http://localhost:1"})
	start() // nobody asked for an informer: there is nothing to wait for
	for name, same := range map[string]bool{
		"kube":          kubeclient.Get(ctx) == kubeclient.Get(ctx),
		"apiextensions": apiextensionsclient.Get(ctx) == apiextensionsclient.Get(ctx),
		"dynamic":       dynamicclient.Get(ctx) == dynamicclient.Get(ctx),
	} {
		if !same {
			t.Errorf("%s: two clients in one context", name)
		}
	}
	if apiextensionsclient.Get(ctx).ApiextensionsV1() == nil {
		t.Error("there is no client of CRDs")
	}
}

// TestNamespacedInformer: its cache is the system namespace's.
func TestNamespacedInformer(t *testing.T) {
	ctx, _ := fakekubeclient.With(t.Context())
	ctx, informers := injection.Fake.SetupInformers(ctx, &rest.Config{})
	secrets := namespacedsecrets.Get(ctx)
	if err := controller.StartInformers(ctx.Done(), informers...); err != nil {
		t.Fatal(err)
	}
	for _, action := range fakekubeclient.Get(ctx).Actions() {
		if action.GetResource().Resource == "secrets" && action.GetNamespace() != "knative-testing" {
			t.Errorf("namespace %q is read", action.GetNamespace())
		}
	}
	if !secrets.Informer().HasSynced() {
		t.Error("it was started with its set")
	}
}

func TestGetRESTConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	content := `{"apiVersion":"v1","kind":"Config","current-context":"c",
		"clusters":[{"name":"k","cluster":{"server":"https://file.example.com"}}],
		"contexts":[{"name":"c","context":{"cluster":"k"}}]}`
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	for server, want := range map[string]string{"": "https://file.example.com", "https://flag.example.com": "https://flag.example.com"} {
		cfg, err := injection.GetRESTConfig(server, file)
		if err != nil || cfg.Host != want {
			t.Errorf("GetRESTConfig(%q): %v, %v, want %s", server, cfg, err, want)
		}
	}
}

// TestHealthProbes asks a server of probes before and while it ends.
func TestHealthProbes(t *testing.T) {
	if injection.HealthCheckDefaultPort != 8080 {
		t.Errorf("the default port is %d", injection.HealthCheckDefaultPort)
	}
	port := freePort(t)
	ctx, cancel := context.WithCancel(t.Context())
	ctx = injection.AddReadiness(ctx, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	ending := make(chan struct{})
	ctx = injection.AddLiveness(ctx, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	go func() { defer close(ending); _ = injection.ServeHealthProbes(ctx, port) }()
	probe := func(path string) int {
		resp, err := http.Get("http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) + path)
		if err != nil {
			return 0
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	await(t, "the server answers", func() bool { return probe("/health") == http.StatusNoContent })
	if got := probe("/readiness"); got != http.StatusAccepted {
		t.Errorf("/readiness: %d", got)
	}
	cancel()
	<-ending
	if got := probe("/health"); got != 0 && got != http.StatusInternalServerError {
		t.Errorf("/health after the end: %d", got)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
