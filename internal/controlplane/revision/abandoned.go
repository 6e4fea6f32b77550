// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"fmt"

	apierrs "k8s.io/apimachinery/pkg/api/errors"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/lineage"
	"weir.dev/pkg/tracker"
)

// abandoned says that nobody waits for rev any more: it was never ready, no Route leads there, and its Configuration has moved
// on. The newest Revision is waited for whatever Routes say, as where traffic is to follow later: its author wants to know
// whether it starts, and the Configuration is not Ready before.
func (r *Reconciler) abandoned(rev *v1.Revision, seen observation) (bool, error) {
	name := rev.Labels[serving.ConfigurationLabelKey]
	if rev.GetRoutingState() != v1.RoutingStateReserve || seen.initialized() || name == "" {
		return false, nil
	}
	err := r.tracker.TrackReference(tracker.Reference{
		APIVersion: v1.SchemeGroupVersion.String(), Kind: "Configuration", Namespace: rev.Namespace, Name: name,
	}, rev)
	if err != nil {
		return false, fmt.Errorf("following Configuration %q: %w", name, err)
	}
	config, err := r.configurations.Configurations(rev.Namespace).Get(name)
	switch {
	case apierrs.IsNotFound(err):
		return false, nil // rev goes with it
	case err != nil:
		return false, fmt.Errorf("getting Configuration %q: %w", name, err)
	}
	// A status from before rev was made says nothing about it.
	return config.Status.ObservedGeneration >= lineage.Generation(rev) && config.Status.LatestCreatedRevisionName != rev.Name, nil
}
