// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"weir.dev/embedded/node/pod"
)

// provider answers virtual-kubelet's pod controller. The library knows pods by
// name, we by UID: a pod that is still ending and its successor of the same name
// are two pods here.
type provider struct {
	node   *Node
	client *podClient
	lister corelisters.PodLister

	// ctx ends when pods are to be left.
	ctx    context.Context
	config pod.Config
	group  sync.WaitGroup

	mu    sync.Mutex
	pods  map[types.UID]*pod.Pod
	names map[types.NamespacedName]types.UID
	// following says that the pods of the API are known.
	following bool
}

func newProvider(n *Node) *provider {
	p := &provider{
		node: n, lister: n.pods.Core().V1().Pods().Lister(),
		pods: map[types.UID]*pod.Pod{}, names: map[types.NamespacedName]types.UID{},
	}
	p.client = &podClient{PodsGetter: n.cfg.Client.CoreV1(), provider: p, written: map[types.UID]corev1.PodStatus{}}
	return p
}

func (p *provider) start(ctx context.Context, config pod.Config) { p.ctx, p.config = ctx, config }

func nameOf(pod *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

// run makes a pod happen and looks after it until it is gone.
func (p *provider) run(running *pod.Pod) {
	api := running.Snapshot()
	p.mu.Lock()
	p.pods[api.UID] = running
	p.names[nameOf(api)] = api.UID
	p.mu.Unlock()
	p.group.Go(func() {
		running.Run(p.ctx)
		if running.Removed() {
			p.forget(running)
		}
	})
}

// forget drops a pod that is gone from this machine, and from the API if it
// was to be deleted.
func (p *provider) forget(gone *pod.Pod) {
	final := gone.Snapshot()
	p.client.finish(p.ctx, final)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pods, final.UID)
	if p.names[nameOf(final)] == final.UID {
		delete(p.names, nameOf(final))
	}
}

func (p *provider) wait() { p.group.Wait() }

func (p *provider) byUID(uid types.UID) *pod.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pods[uid]
}

// byName is the newest pod of a name.
func (p *provider) byName(namespace, name string) *pod.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pods[p.names[types.NamespacedName{Namespace: namespace, Name: name}]]
}

func (p *provider) all() []*pod.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]*pod.Pod, 0, len(p.pods))
	for _, running := range p.pods {
		list = append(list, running)
	}
	return list
}

// CreatePod implements node.PodLifecycleHandler.
func (p *provider) CreatePod(_ context.Context, api *corev1.Pod) error {
	if old := p.byUID(api.UID); old != nil {
		old.Update(api)
		return nil
	}
	if old := p.byName(api.Namespace, api.Name); old != nil {
		old.Stop(forcedGrace)
	}
	p.run(pod.New(p.config, newSandboxID(), api))
	return nil
}

// forcedGrace is what a pod gets that nobody waits for any more.
const forcedGrace = 2 * time.Second

func newSandboxID() string {
	var id [6]byte
	_, _ = rand.Read(id[:])
	return hex.EncodeToString(id[:])
}

// UpdatePod implements node.PodLifecycleHandler.
func (p *provider) UpdatePod(ctx context.Context, api *corev1.Pod) error {
	return p.CreatePod(ctx, api)
}

// DeletePod implements node.PodLifecycleHandler. It only asks the pod to end.
func (p *provider) DeletePod(_ context.Context, api *corev1.Pod) error {
	running := p.byUID(api.UID)
	if running == nil {
		return errdefs.NotFoundf("pod %s/%s is not on this node", api.Namespace, api.Name)
	}
	running.Update(api)
	current, err := p.lister.Pods(api.Namespace).Get(api.Name)
	if err != nil || current.UID != api.UID {
		running.Stop(forcedGrace)
		return nil
	}
	running.Stop(graceOf(api))
	return nil
}

// graceOf is what is left of a deleted pod's grace period. Its end in the API
// is cut to a second.
func graceOf(api *corev1.Pod) time.Duration {
	if api.DeletionTimestamp == nil || api.DeletionGracePeriodSeconds == nil {
		return forcedGrace
	}
	grace := time.Duration(*api.DeletionGracePeriodSeconds) * time.Second
	return max(min(grace, time.Until(api.DeletionTimestamp.Time)+time.Second), 0)
}

// GetPod implements node.PodLifecycleHandler. A pod whose name belongs to
// another one in the API is not there for the library.
func (p *provider) GetPod(_ context.Context, namespace, name string) (*corev1.Pod, error) {
	running := p.byName(namespace, name)
	if running == nil {
		return nil, errdefs.NotFoundf("pod %s/%s is not on this node", namespace, name)
	}
	snapshot := running.Snapshot()
	if current, err := p.lister.Pods(namespace).Get(name); err == nil && current.UID != snapshot.UID {
		return nil, errdefs.NotFoundf("pod %s/%s is not on this node", namespace, name)
	}
	return snapshot, nil
}

// GetPodStatus implements node.PodLifecycleHandler.
func (p *provider) GetPodStatus(ctx context.Context, namespace, name string) (*corev1.PodStatus, error) {
	snapshot, err := p.GetPod(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	return &snapshot.Status, nil
}

// GetPods implements node.PodLifecycleHandler.
func (p *provider) GetPods(context.Context) ([]*corev1.Pod, error) {
	var list []*corev1.Pod
	for _, running := range p.all() {
		list = append(list, running.Snapshot())
	}
	return list, nil
}

// NotifyPods implements node.PodNotifier. Statuses do not take the way through
// the library, which would look at each by name and at most so often; without
// this method it would poll for them.
func (p *provider) NotifyPods(context.Context, func(*corev1.Pod)) {}

// publish writes the status of a pod, once the library follows the API.
func (p *provider) publish(ctx context.Context, api *corev1.Pod) error {
	p.mu.Lock()
	following := p.following
	p.mu.Unlock()
	if !following {
		return nil
	}
	_, err := p.client.patchStatus(ctx, api)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		p.node.cfg.Log.Debug("cannot write status of pod yet", "error", err)
	}
	return err
}

// publishAll writes the status of all pods that are running already.
func (p *provider) publishAll() {
	p.mu.Lock()
	p.following = true
	p.mu.Unlock()
	for _, running := range p.all() {
		running.Republish()
	}
}

// watchReplacements starts pods that took another's name while we were not
// looking: the library takes that for an update of the other one.
func (p *provider) watchReplacements() {
	_, err := p.node.pods.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(old, current any) {
			before, after := old.(*corev1.Pod), current.(*corev1.Pod)
			if before.UID != after.UID && after.DeletionTimestamp == nil && p.byUID(after.UID) == nil {
				_ = p.CreatePod(p.ctx, after)
			}
		},
	})
	if err != nil {
		p.node.cfg.Log.Error("cannot watch for replaced pods", "error", err)
	}
}

// stopAll stops all containers and leaves the pods in the API.
func (p *provider) stopAll(timeout time.Duration) {
	p.mu.Lock()
	// In the API these pods have not ended: the next process starts them again.
	p.following = false
	p.mu.Unlock()
	pods := p.all()
	for _, running := range pods {
		running.Stop(timeout)
	}
	const extra = 20 * time.Second
	limit := time.NewTimer(timeout + extra)
	defer limit.Stop()
	for _, running := range pods {
		select {
		case <-running.Done():
		case <-limit.C:
			p.node.cfg.Log.Warn("not all containers could be stopped in time")
			return
		}
	}
}
