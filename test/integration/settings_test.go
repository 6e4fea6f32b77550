// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/test/harness"
)

// These tests change the operator's settings while the controller runs, and see the effect on what is there.

const systemNamespace = "knative-serving"

// set changes keys of a ConfigMap until the end of the test.
func set(t *testing.T, name string, data map[string]string) {
	t.Helper()
	if err := suite.System.SetConfig(t.Context(), name, data); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := suite.System.ResetConfig(context.Background(), name, data); err != nil {
			t.Errorf("ConfigMap %s: %v", name, err)
		}
	})
}

// patchConfig works in clean-ups, too.
func patchConfig(t *testing.T, name, patch string) {
	t.Helper()
	if err := suite.System.PatchConfig(context.Background(), name, []byte(patch)); err != nil {
		t.Errorf("ConfigMap %s: %v", name, err)
	}
}

// deploy makes the good Service under another name, with replacements as for parse, and waits for its Revision's Deployment.
func deploy(t *testing.T, name string, replace ...string) {
	t.Helper()
	o := parse(t, replace...)
	o.SetName(name)
	in := client.Resource(services).Namespace("default")
	if _, err := in.Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "the Deployment of "+name, func(ctx context.Context) (bool, error) {
		_, err := deploymentOf(ctx, name)
		return err == nil, err
	})
}

func deploymentOf(ctx context.Context, service string) (*appsv1.Deployment, error) {
	return suite.System.Kube.AppsV1().Deployments("default").Get(ctx, service+"-00001-deployment", metav1.GetOptions{})
}

func revision(t *testing.T, name string) *servingv1.Revision {
	t.Helper()
	rev, err := suite.System.Serving.ServingV1().Revisions("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

func eventually(t *testing.T, what string, done func(context.Context) (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := harness.Eventually(ctx, what, done); err != nil {
		t.Fatal(err)
	}
}

func TestDefaultsAreLive(t *testing.T) {
	deploy(t, "before")
	set(t, "config-defaults", map[string]string{"revision-timeout-seconds": "400"})
	eventually(t, "the new default", func(ctx context.Context) (bool, error) {
		o, err := client.Resource(services).Namespace("default").Create(ctx, parse(t), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil && strings.Contains(fmt.Sprint(o.Object["spec"]), "timeoutSeconds:400"), err
	})
	deploy(t, "after")
	if got := *revision(t, "after-00001").Spec.TimeoutSeconds; got != 400 {
		t.Errorf("a new Revision has the new default, got %d", got)
	}

	// Applied again, what was there before makes no new Revision. So kubectl sends it, with the list of containers whole.
	in := suite.System.Serving.ServingV1()
	again := `{"metadata":{"labels":{"applied":"again"}},"spec":{"template":{"spec":{"containers":[{"image":"weir.local/app"}]}}}}`
	svc, err := in.Services("default").Patch(t.Context(), "before", types.MergePatchType, []byte(again), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the label on the Configuration", func(ctx context.Context) (bool, error) {
		c, err := in.Configurations("default").Get(ctx, "before", metav1.GetOptions{})
		if err == nil && c.Generation != 1 {
			return false, fmt.Errorf("the Configuration has generation %d", c.Generation)
		}
		return err == nil && c.Labels["applied"] == "again", err
	})
	if svc.Generation != 1 || *svc.Spec.Template.Spec.TimeoutSeconds != 300 {
		t.Errorf("what was defaulted stays: generation %d, timeout %d", svc.Generation, *svc.Spec.Template.Spec.TimeoutSeconds)
	}
}

func TestFeaturesAreLive(t *testing.T) {
	create := func(ctx context.Context) error {
		o := parse(t, "    spec:\n      containers", "    spec:\n      nodeSelector: {disk: fast}\n      containers")
		_, err := client.Resource(services).Namespace("default").Create(ctx, o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	if err := create(t.Context()); err == nil || !strings.Contains(err.Error(), "nodeSelector") {
		t.Errorf("a feature that is off is refused, got %v", err)
	}
	set(t, "config-features", map[string]string{"kubernetes.podspec-nodeselector": "eNabled"})
	eventually(t, "the feature", func(ctx context.Context) (bool, error) { err := create(ctx); return err == nil, err })
}

// TestNamesAreLive: Routes that are there get the names of new templates and domains, and lose them again.
func TestNamesAreLive(t *testing.T) {
	deploy(t, "named", "spec:\n  template:", "spec:\n  traffic:\n    - {latestRevision: true, percent: 100, tag: blue}\n  template:")
	hosts := func(what string, want ...string) {
		t.Helper()
		eventually(t, what, func(ctx context.Context) (bool, error) {
			ing, err := suite.System.Serving.NetworkingV1alpha1().Ingresses("default").Get(ctx, "named", metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			have := ""
			for _, rule := range ing.Spec.Rules {
				have += " " + strings.Join(rule.Hosts, " ") + " "
			}
			for _, host := range want {
				if !strings.Contains(have, " "+host+" ") {
					return false, fmt.Errorf("no host %s in %s", host, have)
				}
			}
			route, err := suite.System.Serving.ServingV1().Routes("default").Get(ctx, "named", metav1.GetOptions{})
			return err == nil && route.Status.URL != nil && strings.HasPrefix(route.Status.URL.Host, want[0]), err
		})
	}
	hosts("names of before", "named.default.localhost", "blue-named.default.localhost")
	t.Run("templates", func(t *testing.T) {
		set(t, "config-network", map[string]string{"domain-template": "{{.Namespace}}--{{.Name}}.{{.Domain}}", "tagTemplate": "{{.Name}}-{{.Tag}}"})
		hosts("new templates", "default--named.localhost", "default--named-blue.localhost")
	})
	t.Run("domain", func(t *testing.T) {
		set(t, "config-domain", map[string]string{"apps.example.com": "selector:\n  serving.knative.dev/service: named\n"})
		hosts("a new domain", "named.default.apps.example.com", "blue-named.default.apps.example.com")
	})
	hosts("names of before, again", "named.default.localhost", "blue-named.default.localhost")
}

// TestRevisionSettingsAreLive: what is no part of a Revision follows the operator's settings while it runs.
func TestRevisionSettingsAreLive(t *testing.T) {
	deploy(t, "running")
	set(t, "config-deployment", map[string]string{"progress-deadline": "77s"})
	set(t, "config-autoscaler", map[string]string{"min-scale": "3"})
	set(t, "config-observability", map[string]string{"logging.revision-url-template": "http://logs/${REVISION_UID}"})
	eventually(t, "the new deadline and scale", func(ctx context.Context) (bool, error) {
		d, err := deploymentOf(ctx, "running")
		if err != nil {
			return false, err
		}
		if *d.Spec.ProgressDeadlineSeconds != 77 || *d.Spec.Replicas != 3 {
			return false, fmt.Errorf("progressDeadlineSeconds %d, replicas %d", *d.Spec.ProgressDeadlineSeconds, *d.Spec.Replicas)
		}
		rev, err := suite.System.Serving.ServingV1().Revisions("default").Get(ctx, "running-00001", metav1.GetOptions{})
		return err == nil && rev.Status.LogURL == "http://logs/"+string(rev.UID), err
	})
}

// TestGarbageCollectionIsLive: a superseded Revision goes when the operator wants fewer of them.
func TestGarbageCollectionIsLive(t *testing.T) {
	deploy(t, "kept")
	in := suite.System.Serving.ServingV1()
	owner, err := in.Configurations("default").Get(t.Context(), "kept", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	old := revision(t, "kept-00001").DeepCopy()
	old.ObjectMeta = metav1.ObjectMeta{
		Name: "kept-00000", Labels: old.Labels,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, servingv1.SchemeGroupVersion.WithKind("Configuration"))},
	}
	old.Labels["serving.knative.dev/configurationGeneration"] = "0"
	old.Labels["serving.knative.dev/routingState"] = "reserve"
	if _, err := in.Revisions("default").Create(t.Context(), old, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	set(t, "config-gc", map[string]string{"min-non-active-revisions": "0", "max-non-active-revisions": "0"})
	eventually(t, "the old Revision to go", func(ctx context.Context) (bool, error) {
		_, err := in.Revisions("default").Get(ctx, "kept-00000", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	revision(t, "kept-00001")
}

func TestLogLevelIsLive(t *testing.T) {
	if suite.Output == "" {
		t.Skip("another machine's log")
	}
	debug := func(context.Context) (bool, error) {
		raw, err := os.ReadFile(suite.Output)
		return strings.Contains(string(raw), "level=DEBUG"), err
	}
	if yes, err := debug(t.Context()); yes || err != nil {
		t.Fatalf("debugging is logged already, %v", err)
	}
	set(t, "config-logging", map[string]string{"loglevel.controller": "debug"})
	eventually(t, "lines of debugging", func(ctx context.Context) (bool, error) {
		_, _ = client.Resource(services).Namespace("default").Create(ctx, parse(t, "name: app", "name: 1app"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return debug(ctx)
	})
}

// TestBadSettingsKeepTheGoodOnes: what got past admission is logged, and nothing changes.
func TestBadSettingsKeepTheGoodOnes(t *testing.T) {
	set(t, "config-defaults", map[string]string{"revision-timeout-seconds": "123"})
	timeout := func(want string) {
		t.Helper()
		eventually(t, "timeout "+want, func(ctx context.Context) (bool, error) {
			o, err := client.Resource(services).Namespace("default").Create(ctx, parse(t), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err == nil && strings.Contains(fmt.Sprint(o.Object["spec"]), "timeoutSeconds:"+want), err
		})
	}
	timeout("123")
	const label = `"app.kubernetes.io/component"`
	t.Cleanup(func() { patchConfig(t, "config-defaults", `{"metadata":{"labels":{`+label+`:"controller"}}}`) })
	patchConfig(t, "config-defaults", `{"metadata":{"labels":{`+label+`:null}}}`) // the webhook does not look any more
	patchConfig(t, "config-defaults", `{"data":{"revision-timeout-seconds":"soon"}}`)
	if suite.Output != "" {
		eventually(t, "the complaint", func(context.Context) (bool, error) {
			raw, err := os.ReadFile(suite.Output)
			return strings.Contains(string(raw), "revision-timeout-seconds") && strings.Contains(string(raw), "keeping the previous one"), err
		})
	}
	timeout("123")
	patchConfig(t, "config-defaults", `{"data":{"revision-timeout-seconds":"124"},"metadata":{"labels":{`+label+`:"controller"}}}`)
	timeout("124")
}

// TestSettingsAreJudged: what kubectl shows of a change of settings.
func TestSettingsAreJudged(t *testing.T) {
	tests := map[string]struct {
		reason, name, data string
		refused            string   // part of it; "" is admitted
		warnings           []string // parts of them
	}{
		"good":          {"there is nothing to say", "config-gc", `{"min-non-active-revisions":"5"}`, "", nil},
		"idle":          {"it would do something elsewhere", "config-deployment", `{"queueSidecarImage":"x"}`, "", []string{"there is no sidecar"}},
		"TLS":           {"somebody may believe in it", "config-network", `{"external-domain-tls":"Enabled"}`, "", []string{"there are no certificates yet"}},
		"misspelt":      {"what was meant", "config-autoscaler", `{"enable-scale-to-zer0":"false"}`, "", []string{`did you mean "enable-scale-to-zero"?`}},
		"bad":           {"nobody can mean it", "config-logging", `{"loglevel.controller":"loud"}`, `loglevel.controller = "loud"`, nil},
		"leases":        {"no controller could start", "config-leader-election", `{"leaseDuration":"1s"}`, "lease-duration", nil},
		"min, max":      {"they contradict each other", "config-autoscaler", `{"min-scale":"3","max-scale":"2"}`, "min-scale (3)", nil},
		"example":       {"it has no effect", "config-gc", `{"_example":"min-non-active-revisions: 3"}`, `modifies a key in "_example"`, nil},
		"idle, and bad": {"it may have an effect later", "config-features", `{"autodetect-http2":"maybe"}`, `autodetect-http2 = "maybe"`, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			said := &recorder{}
			cfg := rest.CopyConfig(config)
			cfg.WarningHandler = said
			kube, err := kubernetes.NewForConfig(cfg)
			if err != nil {
				t.Fatal(err)
			}
			_, err = kube.CoreV1().ConfigMaps(systemNamespace).Patch(t.Context(), tc.name, types.MergePatchType,
				[]byte(`{"data":`+tc.data+`}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
			if (err == nil) != (tc.refused == "") || (err != nil && !strings.Contains(err.Error(), tc.refused)) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.refused)
			}
			if len(said.warnings) != len(tc.warnings) {
				t.Fatalf("%s: got %q, want %q", tc.reason, said.warnings, tc.warnings)
			}
			for i, want := range tc.warnings {
				if !strings.Contains(said.warnings[i], want) {
					t.Errorf("%s: got %q, want %q", tc.reason, said.warnings, tc.warnings)
				}
			}
		})
	}
}

// recorder keeps the warnings of the API server.
type recorder struct{ warnings []string }

func (r *recorder) HandleWarningHeader(_ int, _, text string) { r.warnings = append(r.warnings, text) }
