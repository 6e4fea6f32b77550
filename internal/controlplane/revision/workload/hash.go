// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
)

// hashOf is the hash of what d is made from: FNV-1a, base 36. It leaves out what must not roll pods: the replicas, which are
// the autoscaler's, and the hook's address, which is the platform's.
func hashOf(d *appsv1.Deployment) string {
	spec := d.Spec.DeepCopy()
	spec.Replicas = nil
	for i := range spec.Template.Spec.Containers {
		spec.Template.Spec.Containers[i].Lifecycle = nil
	}
	text, err := json.Marshal([]any{spec, d.Annotations, d.Labels})
	if err != nil {
		panic(fmt.Sprintf("workload: a Deployment does not marshal: %v", err)) // its types always do
	}
	h := fnv.New32a()
	h.Write(text)
	return strconv.FormatUint(uint64(h.Sum32()), 36)
}
