// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package action performs what probes and lifecycle hooks are made of: an HTTP
// request, a TCP connection, a gRPC health check, a command, a pause. Addresses
// are reached from the machine's side, as a kubelet does it. One call is one
// attempt; when and how often is the caller's business.
package action

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Exec runs a command in the container; its output becomes part of messages.
type Exec func(ctx context.Context, command []string) (output string, err error)

// Target is the container that an action is about.
type Target struct {
	Container *corev1.Container
	// IP is the pod's address.
	IP   netip.Addr
	Exec Exec
}

// Probe performs a probe's action once.
func (t Target) Probe(ctx context.Context, p corev1.ProbeHandler) error {
	switch {
	case p.HTTPGet != nil:
		return t.httpGet(ctx, p.HTTPGet, "kube-probe/1.37")
	case p.TCPSocket != nil:
		return t.connect(ctx, p.TCPSocket)
	case p.GRPC != nil:
		return t.grpcHealth(ctx, p.GRPC)
	case p.Exec != nil:
		return t.command(ctx, p.Exec.Command)
	}
	return errors.New("probe has no action")
}

// Hook performs a lifecycle hook.
func (t Target) Hook(ctx context.Context, h corev1.LifecycleHandler) error {
	switch {
	case h.HTTPGet != nil:
		return t.httpGet(ctx, h.HTTPGet, "kube-lifecycle/1.37")
	case h.TCPSocket != nil:
		return t.connect(ctx, h.TCPSocket)
	case h.Exec != nil:
		return t.command(ctx, h.Exec.Command)
	case h.Sleep != nil:
		return pause(ctx, time.Duration(h.Sleep.Seconds)*time.Second)
	}
	return errors.New("lifecycle hook has no action")
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (t Target) command(ctx context.Context, command []string) error {
	output, err := t.Exec(ctx, command)
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(output))
	}
	return nil
}

func (t Target) address(host string, port intstr.IntOrString) (string, error) {
	number, err := Port(t.Container, port)
	if err != nil {
		return "", err
	}
	if host == "" {
		host = t.IP.String()
	}
	return net.JoinHostPort(host, strconv.Itoa(number)), nil
}

// Port is the number that a port field means for a container: a number itself,
// or the name of one of its ports.
func Port(c *corev1.Container, port intstr.IntOrString) (int, error) {
	number := port.IntValue()
	if port.Type == intstr.String {
		for _, p := range c.Ports {
			if p.Name == port.StrVal {
				number = int(p.ContainerPort)
			}
		}
	}
	if number < 1 || number > 65535 {
		return 0, fmt.Errorf("container %s has no port %q", c.Name, port.String())
	}
	return number, nil
}

func (t Target) connect(ctx context.Context, a *corev1.TCPSocketAction) error {
	address, err := t.address(a.Host, a.Port)
	if err != nil {
		return err
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

func (t Target) httpGet(ctx context.Context, a *corev1.HTTPGetAction, agent string) error {
	address, err := t.address(a.Host, a.Port)
	if err != nil {
		return err
	}
	request, err := newRequest(ctx, address, a, agent)
	if err != nil {
		return err
	}
	transport := &http.Transport{
		DisableKeepAlives: true,
		// Certificates of pods are nobody's business here, as in Kubernetes.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: sameHost}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	const most = 10 << 10
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, most))
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("HTTP probe failed with statuscode: %d", response.StatusCode)
	}
	return nil
}

func newRequest(ctx context.Context, address string, a *corev1.HTTPGetAction, agent string) (*http.Request, error) {
	scheme := strings.ToLower(string(a.Scheme))
	if scheme == "" {
		scheme = "http"
	}
	path, err := url.Parse("/" + strings.TrimPrefix(a.Path, "/"))
	if err != nil {
		path = &url.URL{Path: "/" + strings.TrimPrefix(a.Path, "/")} // literally, as a kubelet takes it
	}
	path.Scheme, path.Host = scheme, address
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, path.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("make HTTP action's request: %w", err)
	}
	request.Header.Set("User-Agent", agent)
	request.Header.Set("Accept", "*/*")
	for _, h := range a.HTTPHeaders {
		if strings.EqualFold(h.Name, "Host") {
			request.Host = h.Value
			continue
		}
		// The first value replaces a default, more are added.
		if name := http.CanonicalHeaderKey(h.Name); name == "User-Agent" || name == "Accept" {
			request.Header.Set(name, h.Value)
		} else {
			request.Header.Add(name, h.Value)
		}
	}
	return request, nil
}

// sameHost follows redirects within the pod; one that leads elsewhere is an
// answer by itself.
func sameHost(request *http.Request, via []*http.Request) error {
	const most = 10
	if request.URL.Hostname() != via[0].URL.Hostname() {
		return http.ErrUseLastResponse
	}
	if len(via) >= most {
		return fmt.Errorf("stopped after %d redirects", most)
	}
	return nil
}

func (t Target) grpcHealth(ctx context.Context, a *corev1.GRPCAction) error {
	address, err := t.address("", intstr.FromInt32(a.Port))
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("prepare gRPC health check: %w", err)
	}
	defer conn.Close()
	service := ""
	if a.Service != nil {
		service = *a.Service
	}
	answer, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{Service: service})
	if err != nil {
		return fmt.Errorf("gRPC health check of service %q: %w", service, err)
	}
	if answer.Status != healthpb.HealthCheckResponse_SERVING {
		return fmt.Errorf("service %q unhealthy (responded with %q)", service, answer.Status)
	}
	return nil
}
