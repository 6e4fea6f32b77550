// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"context"

	"weir.dev/api/serving"
	ingressinformer "weir.dev/client/injection/informers/networking/v1alpha1/ingress"
	revisioninformer "weir.dev/client/injection/informers/serving/v1/revision"
	podinformer "weir.dev/pkg/client/injection/kube/informers/core/v1/pod/filtered"
	serviceinformer "weir.dev/pkg/client/injection/kube/informers/core/v1/service"
	sliceinformer "weir.dev/pkg/client/injection/kube/informers/discovery/v1/endpointslice"
)

// PodSelector selects the pods that InformersFrom takes. The context must have it among the selectors of filtered
// informers.
const PodSelector = serving.RevisionUID

// InformersFrom takes the sources from an injection context, which starts them.
func InformersFrom(ctx context.Context) Informers {
	return Informers{
		Ingresses:      ingressinformer.Get(ctx).Informer(),
		Revisions:      revisioninformer.Get(ctx).Informer(),
		Pods:           podinformer.Get(ctx, PodSelector).Informer(),
		Services:       serviceinformer.Get(ctx).Informer(),
		EndpointSlices: sliceinformer.Get(ctx).Informer(),
	}
}
