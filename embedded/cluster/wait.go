// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// poll is the pace of the start: the API server needs some seconds, and nobody else is asking it yet.
const poll = 20 * time.Millisecond

// waitForAPI returns once /readyz is green: storage reachable, bootstrap roles and priority classes written.
func (cc *controllerContext) waitForAPI(ctx context.Context) error {
	return wait.PollUntilContextCancel(ctx, poll, true, func(ctx context.Context) (bool, error) {
		err := cc.client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		return err == nil, nil
	})
}

// waitForDefaults returns once a pod can be created in the namespace default: its service account is there, with the CA.
func (cc *controllerContext) waitForDefaults(ctx context.Context) error {
	return wait.PollUntilContextCancel(ctx, poll, true, func(ctx context.Context) (bool, error) {
		core := cc.client.CoreV1()
		if _, err := core.ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{}); err != nil {
			return false, nil
		}
		_, err := core.ConfigMaps(metav1.NamespaceDefault).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err == nil, nil
	})
}
