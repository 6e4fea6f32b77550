// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// "An instance SHOULD be started at deployment even without traffic"; what the program prints is "collected".
func TestRuntimeFirstInstanceAndLogs(t *testing.T) {
	s := parallelSpace(t)
	app := s.run()
	pod := s.onlyPod() // nobody has called it
	s.getOK(app + "/log?text=printed")
	s.eventually("both streams are in the log", func() (bool, error) {
		log, err := s.logs(pod.Name, &corev1.PodLogOptions{})
		return strings.Contains(log, "stdout printed\n") && strings.Contains(log, "stderr printed\n"), err
	})
	one := int64(1)
	log, err := s.logs(pod.Name, &corev1.PodLogOptions{TailLines: &one, Timestamps: true})
	if err != nil || strings.Count(log, "\n") != 1 || !strings.Contains(log, "printed") {
		t.Errorf("the last line with its time: %q, %v", log, err)
	}
}

func (s *space) logs(pod string, options *corev1.PodLogOptions) (string, error) {
	raw, err := s.Kube.CoreV1().Pods(s.ns).GetLogs(pod, options).DoRaw(s.ctx)
	return string(raw), err
}

// "A container with at least one request is active": it is not ended for want of others, however long its request takes, while an
// instance without any is.
func TestRuntimeBusyInstanceIsActive(t *testing.T) {
	s := parallelSpace(t)
	soon := annotation("autoscaling.knative.dev/window", "6s")
	lines, _ := s.stream(s.deploy(probe("busy", soon)).Status.URL.String(), 6000)
	s.deploy(probe("idle", soon))
	var left []corev1.Pod
	s.eventually("the idle instance goes", func() (bool, error) {
		left = slices.DeleteFunc(s.pods(), func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
		return len(left) < 2, nil
	})
	if len(left) != 1 || left[0].Labels["serving.knative.dev/service"] != "busy" {
		t.Errorf("left are %d instances, want the busy one", len(left))
	}
	before := lines.Load()
	s.eventually("the request goes on", func() (bool, error) { return lines.Load() > before+10, nil })
}

// stream begins a request whose answer has n lines, one each 20 ms, and counts them as they come. The request ends with the test;
// done is closed when the answer ended.
func (s *space) stream(app string, n int) (lines *atomic.Int64, done <-chan struct{}) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.ctx, http.MethodGet, fmt.Sprint(app, "/stream?n=", n), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := s.HTTP.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { resp.Body.Close() })
	lines = new(atomic.Int64)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for scanner := bufio.NewScanner(resp.Body); scanner.Scan(); {
			lines.Add(1)
		}
	}()
	return lines, ended
}

// A container that ends is started anew with what the image holds; an instance's volumes stay.
func TestRuntimeRestart(t *testing.T) {
	s := parallelSpace(t)
	app := s.run(oneAtLeast(), volumes(map[string]corev1.VolumeSource{"empty": {EmptyDir: &corev1.EmptyDirVolumeSource{}}}))
	const kept, gone = "/v/empty/kept", "/tmp/gone"
	for _, path := range []string{kept, gone} {
		if failed := s.write(app, path, "written"); failed.Error != "" {
			t.Errorf("write %s: %+v", path, failed)
		}
	}
	s.get(app + "/exit?code=3") // the answer is an error of the platform
	s.eventually("the container runs again", func() (bool, error) {
		c := s.onlyPod().Status.ContainerStatuses[0]
		end := c.LastTerminationState.Terminated
		return c.Ready && c.RestartCount == 1 && end != nil && end.ExitCode == 3, nil
	})
	got := s.inspect(app, url.Values{"read": {kept, gone}}).Read
	if got[kept].Text != "written" || got[gone].Errno != "ENOENT" {
		t.Errorf("after the restart: %+v", got)
	}
}

// Deletion lets an instance finish the request that it has.
func TestRuntimeBusyInstanceFinishes(t *testing.T) {
	s := parallelSpace(t)
	app := s.run(variable("ON_TERM", "0s"))
	const all = 150
	lines, done := s.stream(app, all)
	s.eventually("the instance has the request", func() (bool, error) { return lines.Load() > 0, nil })
	if err := s.Serving.ServingV1().Services(s.ns).Delete(s.ctx, "app", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	<-done
	if n := lines.Load(); n != all {
		t.Errorf("the request of an instance that is deleted got %d lines of %d", n, all)
	}
	s.eventually("the instance is gone", func() (bool, error) { return len(s.pods()) == 0, nil })
}

// "A stop is SIGTERM, and SIGKILL after a grace period."
func TestRuntimeStop(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		stays  string // so long after SIGTERM
		grace  int64
		itself bool // it ends by itself
	}{
		"leaves": {"a program that ends in time is not killed", "1s", 60, true},
		"stays":  {"one that does not is", "1h", 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := parallelSpace(t)
			app := s.run(oneAtLeast(), variable("ON_TERM", tc.stays))
			pod := s.onlyPod()
			s.getOK(app + "/log?text=up") // a log that is empty is not sent before its first line
			printed := s.follow(pod.Name)
			err := s.Kube.CoreV1().Pods(s.ns).Delete(s.ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &tc.grace})
			if err != nil {
				t.Fatal(err)
			}
			s.eventually("the instance is gone", func() (bool, error) {
				_, err := s.Kube.CoreV1().Pods(s.ns).Get(s.ctx, pod.Name, metav1.GetOptions{})
				return apierrors.IsNotFound(err), nil
			})
			log := <-printed
			if !strings.Contains(log, "asked to end") || strings.Contains(log, "ends by itself") != tc.itself {
				t.Errorf("%s: it printed %q", tc.reason, log)
			}
		})
	}
}

// follow gives what a pod prints from now to its end.
func (s *space) follow(pod string) <-chan string {
	s.t.Helper()
	stream, err := s.Kube.CoreV1().Pods(s.ns).GetLogs(pod, &corev1.PodLogOptions{Follow: true}).Stream(s.ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	all := make(chan string, 1)
	go func() {
		defer stream.Close()
		var text strings.Builder
		if _, err := io.Copy(&text, bufio.NewReader(stream)); err != nil {
			fmt.Fprintf(&text, "(%v)", err)
		}
		all <- text.String()
	}()
	return all
}
