// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sharedmain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	kubeclient "weir.dev/pkg/client/injection/kube/client"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/leaderelection"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/observability"
	"weir.dev/pkg/system"
)

// configPatience is how long a start waits for an API server that does not
// answer yet.
const configPatience = 5 * time.Second

// GetLoggingConfig reads the logging ConfigMap; the defaults if there is none.
func GetLoggingConfig(ctx context.Context) (*logging.Config, error) {
	cm, err := readConfigMap(ctx, kubeclient.Get(ctx), logging.ConfigMapName())
	if err != nil {
		return nil, err
	}
	config, err := logging.NewConfigFromConfigMap(cm)
	return config, inConfigMap(err, logging.ConfigMapName())
}

// GetLeaderElectionConfig reads the ConfigMap of leader election; the defaults
// if there is none.
func GetLeaderElectionConfig(ctx context.Context) (*leaderelection.Config, error) {
	return leaderElectionConfig(ctx, kubeclient.Get(ctx))
}

func leaderElectionConfig(ctx context.Context, kube kubernetes.Interface) (*leaderelection.Config, error) {
	cm, err := readConfigMap(ctx, kube, leaderelection.ConfigMapName())
	if err != nil {
		return nil, err
	}
	return leaderelection.NewConfigFromConfigMap(cm)
}

// GetObservabilityConfig reads the ConfigMap of metrics, traces and profiles;
// the defaults if there is none.
func GetObservabilityConfig(ctx context.Context) (*observability.Config, error) {
	return observabilityConfig(ctx, kubeclient.Get(ctx))
}

func observabilityConfig(ctx context.Context, kube kubernetes.Interface) (*observability.Config, error) {
	cm, err := readConfigMap(ctx, kube, observability.ConfigMapName())
	if err != nil {
		return nil, err
	}
	config, err := observability.NewConfigFromConfigMap(cm)
	return config, inConfigMap(err, observability.ConfigMapName())
}

// inConfigMap says where what is wrong stands.
func inConfigMap(err error, name string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("ConfigMap %q: %w", name, err)
}

// readConfigMap returns nil when there is none.
func readConfigMap(ctx context.Context, kube kubernetes.Interface, name string) (*corev1.ConfigMap, error) {
	namespace := system.NamespaceOf(ctx)
	var cm *corev1.ConfigMap
	var last error
	err := wait.PollUntilContextTimeout(ctx, configPatience/10, configPatience, true, func(ctx context.Context) (bool, error) {
		cm, last = kube.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		return last == nil || apierrors.IsNotFound(last), nil
	})
	switch {
	case apierrors.IsNotFound(last):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading ConfigMap %s/%s: %w", namespace, name, errors.Join(err, last))
	}
	return cm, nil
}

// watchLogging keeps the level of the logger that Run made, if any, at what
// the logging ConfigMap says.
func watchLogging(ctx context.Context, cmw configmap.DefaultingWatcher, component string, level *zap.AtomicLevel) {
	if level == nil {
		return
	}
	cmw.WatchWithDefault(emptyConfigMap(ctx, logging.ConfigMapName()),
		logging.UpdateLevelFromConfigMap(logging.FromContext(ctx), *level, component))
}

// watchProfiling turns profiles on and off as the ConfigMap says, where the
// process serves any. Its other settings count from the next start.
func watchProfiling(ctx context.Context, cmw configmap.DefaultingWatcher) {
	if profiles := profilesOf(ctx); profiles != nil {
		cmw.WatchWithDefault(emptyConfigMap(ctx, observability.ConfigMapName()), profiles.UpdateFromConfigMap)
	}
}

// emptyConfigMap stands for one that is not there.
func emptyConfigMap(ctx context.Context, name string) corev1.ConfigMap {
	return corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: system.NamespaceOf(ctx), Name: name}}
}
