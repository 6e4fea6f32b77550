// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	apierrs "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/kubernetes"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
)

// lookEvery is how often contents are looked at. They are read by name and not watched: that would take the right to list
// every Secret of the cluster, and its memory.
const lookEvery = 15 * time.Second

// config stamps svc with a hash of all that its template refers to. While something is missing that pods cannot start
// without, there is nothing to roll to.
func (f *Follower) config(ctx context.Context, svc *v1.Service, s *Stamps) {
	refs := referencesOf(&svc.Spec.Template.Spec.PodSpec)
	if len(refs) == 0 {
		return
	}
	s.again(lookEvery)
	all := map[string]string{}
	for _, ref := range refs.sorted() {
		hash, err := f.contents.hash(ctx, svc.Namespace, ref)
		switch optional := refs[ref]; {
		case apierrs.IsNotFound(err) && optional:
			continue
		case err != nil:
			s.Problems = append(s.Problems, fmt.Sprintf("%s %q: %v", ref.kind, ref.name, err))
			return
		}
		all[ref.kind+"/"+ref.name] = hash
	}
	s.set(serving.ConfigHashAnnotationKey, digestOf(all)[:16])
}

// contents reads ConfigMaps and Secrets, each at most once in lookEvery however many Services refer to it. Of Secrets it
// remembers hashes only.
type contents struct {
	kube kubernetes.Interface
	seen *cache.Expiring
}

type outcome struct {
	hash string
	err  error
}

// hash returns a hash of the data of ref, or an error, which may be NotFound.
func (c *contents) hash(ctx context.Context, namespace string, ref reference) (string, error) {
	type key struct {
		namespace string
		reference
	}
	k := key{namespace, ref}
	if v, ok := c.seen.Get(k); ok {
		o, _ := v.(outcome)
		return o.hash, o.err
	}
	data, err := c.read(ctx, namespace, ref)
	o := outcome{err: err}
	if err == nil {
		o.hash = digestOf(data)
	}
	// A little less than the interval, or a reader that comes on time finds what it read before.
	c.seen.Set(k, o, lookEvery*9/10)
	return o.hash, o.err
}

// read gets the data of ref; what is marshalled to JSON is in a fixed order. With a Secret goes its UID, which whoever sees the
// hash does not see: he cannot try passwords on it.
func (c *contents) read(ctx context.Context, namespace string, ref reference) (any, error) {
	// Whatever the API server has in memory is new enough for somebody who comes again.
	options := metav1.GetOptions{ResourceVersion: "0"}
	if ref.kind == secret {
		s, err := c.kube.CoreV1().Secrets(namespace).Get(ctx, ref.name, options)
		if err != nil {
			return nil, err
		}
		return []any{s.UID, s.Data}, nil
	}
	cm, err := c.kube.CoreV1().ConfigMaps(namespace).Get(ctx, ref.name, options)
	if err != nil {
		return nil, err
	}
	return []any{cm.Data, cm.BinaryData}, nil
}

// digestOf hashes a value of maps and strings.
func digestOf(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("follow: %T: %v", v, err)) // strings and bytes can always be marshalled
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
