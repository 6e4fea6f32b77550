// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/client/clientset/versioned"
)

// System is a running Weir, seen from outside.
type System struct {
	Config  *rest.Config
	Kube    kubernetes.Interface
	Serving versioned.Interface
	// HTTP sends every request to the gateway, whatever its host: as with a wildcard DNS record.
	HTTP *http.Client
}

// Connect takes a kubeconfig file and the gateway's host:port; with "" the port of each URL on loopback is called.
func Connect(kubeconfig, gateway string) (*System, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", kubeconfig, err)
	}
	cfg.QPS = -1
	cfg.WarningHandler = rest.NoWarnings{} // the examples leave security settings to the defaults
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	serving, err := versioned.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	return &System{Config: cfg, Kube: kube, Serving: serving, HTTP: gatewayClient(gateway)}, nil
}

func gatewayClient(gateway string) *http.Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	return &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 100,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if gateway != "" {
				return dialer.DialContext(ctx, network, gateway)
			}
			_, port, err := net.SplitHostPort(addr)
			if err != nil {
				return nil, err
			}
			return dialer.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
		},
	}}
}

// Answer is a response, read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   string
	Took   time.Duration
}

// Get calls a URL through the gateway.
func (s *System) Get(ctx context.Context, url string) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return Answer{}, err
	}
	start := time.Now()
	resp, err := s.HTTP.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(body), Took: time.Since(start)}, err
}

// ReadService decodes a manifest file strictly: a field that does not exist is an error.
func ReadService(file string) (*servingv1.Service, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	svc := &servingv1.Service{}
	if err := yaml.UnmarshalStrict(raw, svc); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return svc, nil
}

// WaitService watches a Service until it is Ready for its current generation, and gives the state seen last in any case.
func (s *System) WaitService(ctx context.Context, namespace, name string) (*servingv1.Service, error) {
	return s.AwaitService(ctx, namespace, name, "Ready", func(svc *servingv1.Service) bool { return svc.IsReady() })
}

// AwaitService watches a Service until a condition holds, and gives the state seen last in any case.
func (s *System) AwaitService(ctx context.Context, namespace, name, what string,
	holds func(*servingv1.Service) bool) (*servingv1.Service, error) {
	client := s.Serving.ServingV1().Services(namespace)
	for {
		svc, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		if holds(svc) {
			return svc, nil
		}
		if svc, err = s.watchService(ctx, svc, holds); err != nil || (svc != nil && holds(svc)) {
			return svc, err
		}
		if ctx.Err() != nil {
			return svc, fmt.Errorf("service %s/%s is not %s: %s", namespace, name, what, Conditions(svc))
		}
	}
}

// watchService follows changes until the condition holds, the watch closes or ctx is done.
func (s *System) watchService(ctx context.Context, last *servingv1.Service,
	holds func(*servingv1.Service) bool) (*servingv1.Service, error) {
	w, err := s.Serving.ServingV1().Services(last.Namespace).Watch(ctx, metav1.ListOptions{
		FieldSelector:   "metadata.name=" + last.Name,
		ResourceVersion: last.ResourceVersion,
	})
	if err != nil {
		if ctx.Err() != nil {
			return last, nil
		}
		return last, err
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return last, nil
		case ev, ok := <-w.ResultChan():
			if !ok {
				return last, nil
			}
			if svc, ok := ev.Object.(*servingv1.Service); ok {
				if last = svc; holds(svc) {
					return svc, nil
				}
			}
		}
	}
}

// Conditions prints the conditions of a Service for an error message.
func Conditions(svc *servingv1.Service) string {
	out := ""
	for _, c := range svc.Status.Conditions {
		out += fmt.Sprintf("%s=%s (%s: %s) ", c.Type, c.Status, c.Reason, c.Message)
	}
	return out
}

// Eventually asks every 20 ms until done says so, and fails with the last error when ctx ends first.
func Eventually(ctx context.Context, what string, done func(context.Context) (bool, error)) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := done(ctx)
		if ok && err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, errors.Join(ctx.Err(), err))
		case <-tick.C:
		}
	}
}

// SetConfig sets keys of a config-* ConfigMap, as an operator would.
func (s *System) SetConfig(ctx context.Context, name string, data map[string]string) error {
	patch, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		return err
	}
	return s.PatchConfig(ctx, name, patch)
}

// ResetConfig removes keys that SetConfig set: they are at their defaults again.
func (s *System) ResetConfig(ctx context.Context, name string, data map[string]string) error {
	removed := map[string]any{}
	for key := range data {
		removed[key] = nil
	}
	patch, err := json.Marshal(map[string]any{"data": removed})
	if err != nil {
		return err
	}
	return s.PatchConfig(ctx, name, patch)
}

// PatchConfig sends a merge patch of a config-* ConfigMap.
func (s *System) PatchConfig(ctx context.Context, name string, patch []byte) error {
	_, err := s.Kube.CoreV1().ConfigMaps("knative-serving").Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}
