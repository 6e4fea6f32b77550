// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"fmt"

	apierrs "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/config"
	"weir.dev/internal/controlplane/route/desired"
	"weir.dev/internal/controlplane/route/hosts"
	"weir.dev/internal/controlplane/route/traffic"
	duckv1 "weir.dev/pkg/apis/duck/v1"
)

// name finds out what route is called and writes it into the status.
func (r *Reconciler) name(ctx context.Context, route *v1.Route) (hosts.Namer, error) {
	local, err := r.localTags(ctx, route)
	if err != nil {
		return hosts.Namer{}, err
	}
	namer := hosts.New(config.FromContext(ctx), route, local)
	main, err := namer.Group("")
	if err != nil {
		route.Status.MarkErrorConfig(err.Error())
		return namer, errStop
	}
	route.Status.URL = main.URL
	route.Status.Address = &duckv1.Addressable{URL: namer.Address()}
	return namer, nil
}

// localTags are the tags of route whose k8s Services their users keep inside the cluster.
func (r *Reconciler) localTags(ctx context.Context, route *v1.Route) (sets.Set[string], error) {
	local := sets.New[string]()
	for i := range route.Spec.Traffic {
		tag := route.Spec.Traffic[i].Tag
		if tag == "" {
			continue
		}
		name, err := networkOf(ctx).TagName(tag, route.Name)
		if err != nil {
			continue // told when the group is named
		}
		svc, err := r.services.Services(route.Namespace).Get(name)
		switch {
		case apierrs.IsNotFound(err):
		case err != nil:
			return nil, fmt.Errorf("getting Service %q: %w", name, err)
		case metav1.IsControlledBy(svc, route) && desired.IsLocal(svc):
			local.Insert(tag)
		}
	}
	return local, nil
}

// groupNames names the main group and each tag's, by tag.
func groupNames(route *v1.Route, namer hosts.Namer, plan *traffic.Plan) (map[string]hosts.Names, error) {
	names := map[string]hosts.Names{}
	for _, tag := range append([]string{""}, plan.Tags()...) {
		group, err := namer.Group(tag)
		if err != nil {
			route.Status.MarkErrorConfig(err.Error())
			return nil, errStop
		}
		names[tag] = group
	}
	return names, nil
}

// statusTraffic is what the status says is programmed.
func statusTraffic(plan *traffic.Plan, names map[string]hosts.Names) []v1.TrafficTarget {
	programmed := make([]v1.TrafficTarget, 0, len(plan.Targets))
	for _, t := range plan.Targets {
		entry := t.Status()
		if t.Tag != "" {
			entry.URL = names[t.Tag].URL
		}
		programmed = append(programmed, entry)
	}
	return programmed
}
