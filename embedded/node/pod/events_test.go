// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// recorder keeps events as lines.
type recorder struct {
	mu    sync.Mutex
	lines []string
}

func (r *recorder) Event(o runtime.Object, kind, reason, message string) {
	r.Eventf(o, kind, reason, "%s", message)
}

func (r *recorder) Eventf(o runtime.Object, kind, reason, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	path := o.(*corev1.ObjectReference).FieldPath
	r.lines = append(r.lines, fmt.Sprintf("%s %s %s: %s", kind, reason, path, fmt.Sprintf(format, args...)))
}

func (r *recorder) AnnotatedEventf(o runtime.Object, _ map[string]string, kind, reason, format string, args ...any) {
	r.Eventf(o, kind, reason, format, args...)
}

// TestEvents holds the events that users and tools know from a kubelet.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, events := newFake(t), &recorder{}
		f.behaves["main"] = behaviour{runs: time.Second, code: 1}
		cfg := f.config()
		cfg.Events = events
		pod := testPod(corev1.RestartPolicyAlways, corev1.Container{Name: "main", Image: "app", Ports: []corev1.ContainerPort{{HostPort: 80}}})
		p := New(cfg, "sandbox", pod)
		go p.Run(t.Context())
		time.Sleep(5 * time.Second)
		f.set("main", behaviour{})
		time.Sleep(10 * time.Second)
		p.Stop(time.Second)
		<-p.Done()
		want := `Warning NotSupported : hostPort 80 of container main is not supported by this node and has no effect
Normal Pulled spec.containers{main}: Container image "app" already present on machine
Normal Created spec.containers{main}: Created container: main
Normal Started spec.containers{main}: Started container main
Normal Pulled spec.containers{main}: Container image "app" already present on machine
Normal Created spec.containers{main}: Created container: main
Normal Started spec.containers{main}: Started container main
Warning BackOff spec.containers{main}: Back-off restarting failed container main in pod pod_default(uid)
Normal Pulled spec.containers{main}: Container image "app" already present on machine
Normal Created spec.containers{main}: Created container: main
Normal Started spec.containers{main}: Started container main
Normal Killing spec.containers{main}: Stopping container main`
		if diff := cmp.Diff(want, strings.Join(events.lines, "\n")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
