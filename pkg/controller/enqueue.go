// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"weir.dev/pkg/kmeta"
	"weir.dev/pkg/reconciler"
)

// EnqueueKey adds a key.
func (c *Impl) EnqueueKey(key types.NamespacedName) { c.queue.Add(key) }

// EnqueueKeyAfter adds a key after a delay.
func (c *Impl) EnqueueKeyAfter(key types.NamespacedName, delay time.Duration) {
	c.queue.AddAfter(key, delay)
}

// EnqueueSlowKey adds a key to the slow lane, for work that nobody waits for.
func (c *Impl) EnqueueSlowKey(key types.NamespacedName) { c.queue.AddSlow(key) }

// MaybeEnqueueBucketKey adds a key to the slow lane if the bucket has it.
func (c *Impl) MaybeEnqueueBucketKey(b reconciler.Bucket, key types.NamespacedName) {
	if b.Has(key) {
		c.EnqueueSlowKey(key)
	}
}

// Enqueue adds the key of an object.
func (c *Impl) Enqueue(obj any) { c.withKey(obj, c.EnqueueKey) }

// EnqueueAfter adds the key of an object after a delay.
func (c *Impl) EnqueueAfter(obj any, after time.Duration) {
	c.withKey(obj, func(key types.NamespacedName) { c.EnqueueKeyAfter(key, after) })
}

// EnqueueSlow adds the key of an object to the slow lane.
func (c *Impl) EnqueueSlow(obj any) { c.withKey(obj, c.EnqueueSlowKey) }

// EnqueueControllerOf adds the key of the controlling owner of an object.
func (c *Impl) EnqueueControllerOf(obj any) {
	c.withObject(obj, func(object kmeta.Accessor) {
		if owner := metav1.GetControllerOf(object); owner != nil {
			c.EnqueueKey(types.NamespacedName{Namespace: object.GetNamespace(), Name: owner.Name})
		}
	})
}

// EnqueueNamespaceOf adds the namespace of an object, for controllers of namespaces.
func (c *Impl) EnqueueNamespaceOf(obj any) {
	c.withObject(obj, func(object kmeta.Accessor) {
		c.EnqueueKey(types.NamespacedName{Name: object.GetNamespace()})
	})
}

// EnqueueSentinel adds always the same key, for controllers that have only one.
func (c *Impl) EnqueueSentinel(key types.NamespacedName) func(any) {
	return func(any) { c.EnqueueKey(key) }
}

// EnqueueLabelOfNamespaceScopedResource adds the key that an object's labels
// name. With an empty namespaceLabel the namespace is the object's own.
func (c *Impl) EnqueueLabelOfNamespaceScopedResource(namespaceLabel, nameLabel string) func(any) {
	return func(obj any) {
		c.withObject(obj, func(object kmeta.Accessor) {
			namespace, name := object.GetNamespace(), object.GetLabels()[nameLabel]
			if namespaceLabel != "" {
				namespace = object.GetLabels()[namespaceLabel]
			}
			if namespace != "" && name != "" {
				c.EnqueueKey(types.NamespacedName{Namespace: namespace, Name: name})
			}
		})
	}
}

// EnqueueLabelOfClusterScopedResource adds the name that an object's label says.
func (c *Impl) EnqueueLabelOfClusterScopedResource(nameLabel string) func(any) {
	return func(obj any) {
		c.withObject(obj, func(object kmeta.Accessor) {
			if name := object.GetLabels()[nameLabel]; name != "" {
				c.EnqueueKey(types.NamespacedName{Name: name})
			}
		})
	}
}

// GlobalResync adds everything in an informer's cache to the slow lane.
func (c *Impl) GlobalResync(si cache.SharedInformer) {
	c.FilteredGlobalResync(func(any) bool { return true }, si)
}

// FilteredGlobalResync adds what f wants of an informer's cache to the slow
// lane, in random order: controllers that resync at the same time do not meet
// at the same objects, and no object is always last.
func (c *Impl) FilteredGlobalResync(f func(any) bool, si cache.SharedInformer) {
	if c.queue.ShuttingDown() {
		return
	}
	all := si.GetStore().List()
	for _, i := range rand.Perm(len(all)) {
		if f(all[i]) {
			c.EnqueueSlow(all[i])
		}
	}
}

func (c *Impl) withKey(obj any, enqueue func(types.NamespacedName)) {
	c.withObject(obj, func(object kmeta.Accessor) {
		enqueue(types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()})
	})
}

func (c *Impl) withObject(obj any, f func(kmeta.Accessor)) {
	object, err := kmeta.DeletionHandlingAccessor(obj)
	if err != nil {
		c.logger.Errorw("Cannot enqueue what an event handler got", "error", err)
		return
	}
	f(object)
}
