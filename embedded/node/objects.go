// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
)

// objects reads what pods refer to. Config maps and secrets are read when they
// are needed, not watched: a pod must see what was written before it, and the
// secrets of the whole cluster do not belong into this process's memory.
type objects struct {
	client   kubernetes.Interface
	services corelisters.ServiceLister
}

// ConfigMap implements env.Source and volume.Source.
func (o objects) ConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	return o.client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
}

// Secret implements env.Source and volume.Source.
func (o objects) Secret(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	return o.client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
}

// Token implements volume.Source.
func (o objects) Token(ctx context.Context, namespace, account string, spec authenticationv1.TokenRequestSpec) (authenticationv1.TokenRequestStatus, error) {
	request := &authenticationv1.TokenRequest{Spec: spec}
	answer, err := o.client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return authenticationv1.TokenRequestStatus{}, err
	}
	return answer.Status, nil
}

// Services implements pod.Objects.
func (o objects) Services() ([]*corev1.Service, error) { return o.services.List(labels.Everything()) }
