// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// BenchmarkPod measures a pod from its creation in the API: until its address is
// in its status, until its container runs, until it is ready, and, from its
// deletion, until it is gone.
func BenchmarkPod(b *testing.B) {
	w := newWorld(b)
	w.start(b, func(c *Config) {
		if testing.Verbose() {
			c.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
		}
	})
	var addressed, running, readied, removed time.Duration
	for i := range b.N {
		name := fmt.Sprintf("bench-%d", i)
		begin := time.Now()
		w.pod(b, name, corev1.RestartPolicyAlways, server())
		w.await(b, name, func(pod *corev1.Pod) bool { return pod.Status.PodIP != "" })
		addressed += time.Since(begin)
		w.await(b, name, func(pod *corev1.Pod) bool {
			return pod.Status.ContainerStatuses[0].State.Running != nil
		})
		running += time.Since(begin)
		w.await(b, name, ready)
		readied += time.Since(begin)
		begin = time.Now()
		w.delete(b, name, 30)
		w.await(b, name, gone)
		removed += time.Since(begin)
	}
	for name, total := range map[string]time.Duration{"address": addressed, "running": running, "ready": readied, "gone": removed} {
		b.ReportMetric(float64(total.Milliseconds())/float64(b.N), "ms-to-"+name)
	}
}
