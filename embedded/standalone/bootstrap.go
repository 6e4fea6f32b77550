// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package standalone

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"

	"weir.dev/config"
	"weir.dev/config/crd"
)

const (
	systemNamespace = "knative-serving"
	defaultDomain   = "localhost"

	// gatewayService and internalService are the names that Ingress status gives as load balancers.
	gatewayService  = "weir-gateway"
	internalService = "weir-gateway-internal"
)

// bootstrap writes what must be there before controllers start: definitions, the system namespace, the controller's rights and
// the in-cluster name of the gateway. The ConfigMaps follow when admission is in force.
func (w *Weir) bootstrap(ctx context.Context) error {
	crds, err := crd.CRDs()
	if err != nil {
		return err
	}
	if err := w.applier.applyCRDs(ctx, crds); err != nil {
		return err
	}
	if err := w.applier.apply(ctx, named("v1", "Namespace", "", systemNamespace, nil)); err != nil {
		return err
	}
	rights, err := config.RBAC()
	if err != nil {
		return err
	}
	if err := w.applier.apply(ctx, rights...); err != nil {
		return err
	}
	return w.publishGateway(ctx)
}

// applyConfig makes the config-* ConfigMaps that are missing, and sets the keys that follow from where this Weir runs. All
// other keys are the user's.
func (w *Weir) applyConfig(ctx context.Context) error {
	maps, err := config.ConfigMaps()
	if err != nil {
		return err
	}
	for _, m := range maps {
		if err := w.applier.createMissing(ctx, m); err != nil {
			return err
		}
	}
	domain, err := w.chooseDomain()
	if err != nil {
		return err
	}
	port := strconv.Itoa(int(w.addresses.External.Port()))
	if err := w.applier.setKey(ctx, "config-network", "external-http-port", port); err != nil {
		return err
	}
	return w.applier.setKey(ctx, "config-domain", domain, "")
}

// publishGateway makes the gateway's in-cluster listener reachable as a Service: the cluster-local names of Routes lead there.
func (w *Weir) publishGateway(ctx context.Context) error {
	for _, service := range []string{gatewayService, internalService} {
		if err := w.publish(ctx, service, w.addresses.Internal); err != nil {
			return fmt.Errorf("publish the gateway: %w", err)
		}
	}
	return nil
}

func (w *Weir) publish(ctx context.Context, service string, addr netip.AddrPort) error {
	port := map[string]any{"name": "http2", "port": int64(80), "protocol": "TCP", "appProtocol": "kubernetes.io/h2c"}
	svc := named("v1", "Service", systemNamespace, service, map[string]any{
		"spec": map[string]any{"ports": []any{port}},
	})
	slice := named("discovery.k8s.io/v1", "EndpointSlice", systemNamespace, service, map[string]any{
		"metadata": map[string]any{"labels": map[string]any{
			"kubernetes.io/service-name":             service,
			"endpointslice.kubernetes.io/managed-by": "weir.dev",
		}},
		"addressType": "IPv4",
		"endpoints": []any{map[string]any{
			"addresses":  []any{addr.Addr().String()},
			"conditions": map[string]any{"ready": true},
		}},
		"ports": []any{map[string]any{"name": "http2", "port": int64(addr.Port()), "protocol": "TCP"}},
	})
	return w.applier.apply(ctx, svc, slice)
}
