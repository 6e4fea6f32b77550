// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"weir.dev/embedded/node/pull"
)

// TestCourses runs pods for a while and compares everything that happens.
func TestCourses(t *testing.T) {
	main := corev1.Container{Name: "main", Image: "app"}
	hooked := main
	hooked.Lifecycle = &corev1.Lifecycle{
		PostStart: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"greet"}}},
		PreStop:   &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 3}},
	}
	sidecar := corev1.Container{Name: "side", Image: "app", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}
	probed := main
	probed.LivenessProbe = &corev1.Probe{PeriodSeconds: 5, FailureThreshold: 2,
		ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"false"}}}}
	configured := main
	configured.Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}, Key: "key"}}}}

	cases := map[string]struct {
		reason   string
		pod      *corev1.Pod
		behaves  map[string]behaviour
		arrange  func(f *fake)
		schedule func(f *fake, p *Pod)
		want     string
	}{
		"server": {
			reason:   "address first, then running; stopped it is asked to end and goes away",
			pod:      testPod(corev1.RestartPolicyAlways, main),
			behaves:  map[string]behaviour{"main": {ending: time.Second}},
			schedule: func(_ *fake, p *Pod) { time.Sleep(time.Minute); p.Stop(30 * time.Second) },
			want: `0s start main 0
0s status Running/ready main=running
1m0s signal main terminated
1m1s close
1m1s status Succeeded main=Completed(0)`,
		},
		"stubborn": {
			reason:   "what ignores the signal is killed when its time is over",
			pod:      testPod(corev1.RestartPolicyAlways, main),
			behaves:  map[string]behaviour{"main": {stubborn: true}},
			schedule: func(_ *fake, p *Pod) { time.Sleep(time.Minute); p.Stop(5 * time.Second) },
			want: `0s start main 0
0s status Running/ready main=running
1m0s signal main terminated
1m5s signal main killed
1m5s close
1m5s status Failed main=Error(137)`,
		},
		"shortened": {
			reason:  "a second request can shorten the time, even to nothing",
			pod:     testPod(corev1.RestartPolicyAlways, main),
			behaves: map[string]behaviour{"main": {stubborn: true}},
			schedule: func(_ *fake, p *Pod) {
				p.Stop(time.Hour)
				time.Sleep(10 * time.Second)
				p.Stop(0)
			},
			want: `0s start main 0
0s signal main terminated
0s status Running/ready main=running
10s signal main killed
10s close
10s status Failed main=Error(137)`,
		},
		"hooks": {
			reason:   "ready after postStart; the signal comes after preStop",
			pod:      testPod(corev1.RestartPolicyAlways, hooked),
			schedule: func(_ *fake, p *Pod) { time.Sleep(time.Minute); p.Stop(30 * time.Second) },
			want: `0s start main 0
0s exec main greet
0s status Running/ready main=running
1m3s signal main terminated
1m3s close
1m3s status Succeeded main=Completed(0)`,
		},
		"crash loop": {
			reason:   "restarted at once, then after 10, 20, 40 seconds",
			pod:      testPod(corev1.RestartPolicyAlways, main),
			behaves:  map[string]behaviour{"main": {runs: time.Second, code: 3}},
			schedule: func(_ *fake, p *Pod) { time.Sleep(40 * time.Second); p.Stop(30 * time.Second) },
			want: `0s start main 0
0s status Running/ready main=running
1s start main 1
1s status Running/ready main=running
2s status Running main=CrashLoopBackOff
12s start main 2
12s status Running/ready main=running
13s status Running main=CrashLoopBackOff
33s start main 3
33s status Running/ready main=running
34s status Running main=CrashLoopBackOff
40s close
40s status Failed main=Error(3)`,
		},
		"job": {
			reason:   "a job that fails once is tried again, then it is done and stays until deleted",
			pod:      testPod(corev1.RestartPolicyOnFailure, main),
			behaves:  map[string]behaviour{"main": {runs: time.Second, code: 1}},
			arrange:  func(f *fake) { time.AfterFunc(time.Second/2, func() { f.set("main", behaviour{runs: time.Second}) }) },
			schedule: func(_ *fake, p *Pod) { time.Sleep(time.Minute); p.Stop(30 * time.Second) },
			want: `0s start main 0
0s status Running/ready main=running
1s start main 1
1s status Running/ready main=running
2s release
2s status Succeeded main=Completed(0)
1m0s close`,
		},
		"never": {
			reason:   "no second try",
			pod:      testPod(corev1.RestartPolicyNever, main),
			behaves:  map[string]behaviour{"main": {runs: time.Second, code: 1}},
			schedule: func(_ *fake, p *Pod) { time.Sleep(time.Minute); p.Stop(0) },
			want: `0s start main 0
0s status Running/ready main=running
1s release
1s status Failed main=Error(1)
1m0s close`,
		},
		"init and sidecar": {
			reason: "in order; the sidecar outlives the container, and ends with it",
			pod: withInit(testPod(corev1.RestartPolicyNever, main),
				corev1.Container{Name: "first", Image: "app"}, sidecar, corev1.Container{Name: "second", Image: "app"}),
			behaves:  map[string]behaviour{"first": {runs: time.Second}, "second": {runs: time.Second}, "main": {runs: 5 * time.Second}},
			schedule: func(_ *fake, p *Pod) { time.Sleep(time.Minute); p.Stop(30 * time.Second) },
			want: `0s start first 0
0s status Pending first=PodInitializing side=PodInitializing second=PodInitializing main=PodInitializing
100ms status Pending first=running side=PodInitializing second=PodInitializing main=PodInitializing
1s start side 0
1s start second 0
1s status Pending first=Completed(0) side=running second=running main=PodInitializing
2s start main 0
2s status Running/ready first=Completed(0) side=running second=Completed(0) main=running
7s signal side terminated
7s release
7s status Succeeded first=Completed(0) side=Completed(0) second=Completed(0) main=Completed(0)
1m0s close`,
		},
		"liveness": {
			reason:   "two failures of a period each end the run; the next one follows",
			pod:      testPod(corev1.RestartPolicyAlways, probed),
			behaves:  map[string]behaviour{"main": {ending: time.Second}},
			schedule: func(_ *fake, p *Pod) { time.Sleep(15 * time.Second); p.Stop(30 * time.Second) },
			want: `0s start main 0
0s status Running/ready main=running
5s exec main false
10s exec main false
10s signal main terminated
11s start main 1
11s status Running/ready main=running
15s signal main terminated
16s close
16s status Succeeded main=Completed(0)`,
		},
		"no image": {
			reason:  "the reason is shown, then the back-off; an image built meanwhile is used at once",
			pod:     testPod(corev1.RestartPolicyAlways, main),
			arrange: func(f *fake) { f.pullErr = &pull.Error{Reason: pull.ReasonPull, Err: errors.New("no such image")} },
			schedule: func(f *fake, p *Pod) {
				time.Sleep(14500 * time.Millisecond)
				f.mu.Lock()
				f.present = true
				f.mu.Unlock()
				time.Sleep(5500 * time.Millisecond)
				p.Stop(0)
			},
			want: `0s status Pending main=ErrImagePull
1s status Pending main=ImagePullBackOff
10s status Pending main=ErrImagePull
11s status Pending main=ImagePullBackOff
15s start main 0
15s status Running/ready main=running
20s signal main killed
20s close
20s status Failed main=Error(137)`,
		},
		"no config": {
			reason: "it waits for what its variables refer to",
			pod:    testPod(corev1.RestartPolicyAlways, configured),
			arrange: func(f *fake) {
				time.AfterFunc(2*time.Second, func() { f.mu.Lock(); f.configMap = true; f.mu.Unlock() })
			},
			schedule: func(_ *fake, p *Pod) { time.Sleep(5 * time.Second); p.Stop(0) },
			want: `0s status Pending main=CreateContainerConfigError
3s start main 0
3s status Running/ready main=running
5s signal main killed
5s close
5s status Failed main=Error(137)`,
		},
		"runtime refuses": {
			reason:   "a program that does not exist is a crash",
			pod:      testPod(corev1.RestartPolicyAlways, main),
			behaves:  map[string]behaviour{"main": {createErr: errors.New("no such file")}},
			schedule: func(_ *fake, p *Pod) { time.Sleep(5 * time.Second); p.Stop(0) },
			want: `0s refuse main
0s refuse main
0s status Running main=CrashLoopBackOff
5s close
5s status Failed main=StartError(128)`,
		},
		"deadline": {
			reason:   "a pod has its time",
			pod:      withDeadline(testPod(corev1.RestartPolicyAlways, main), 10),
			schedule: func(_ *fake, p *Pod) { time.Sleep(time.Minute); p.Stop(0) },
			want: `0s start main 0
0s status Running/ready main=running
10s signal main terminated
10s release
10s status Failed main=Completed(0)
1m0s close`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t)
				for name, b := range c.behaves {
					f.behaves[name] = b
				}
				if c.arrange != nil {
					c.arrange(f)
				}
				p := New(f.config(), "sandbox", c.pod)
				go p.Run(t.Context())
				synctest.Wait()
				c.schedule(f, p)
				<-p.Done()
				if !p.Removed() {
					t.Error("the pod is not removed")
				}
				if diff := cmp.Diff(c.want, settled(f.notes())); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.reason, diff)
				}
			})
		})
	}
}

// settled orders the notes of one instant, where the scheduler decides: what
// happened, then the last status.
func settled(notes string) string {
	var kept []string
	status, last := "", ""
	flush := func() {
		if status != "" {
			kept = append(kept, status)
		}
		status = ""
	}
	for line := range strings.SplitSeq(notes, "\n") {
		at, what, _ := strings.Cut(line, " ")
		if at != last {
			flush()
		}
		last = at
		if strings.HasPrefix(what, "status ") {
			status = line
		} else {
			kept = append(kept, line)
		}
	}
	flush()
	return strings.Join(kept, "\n")
}

func (f *fake) set(name string, b behaviour) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.behaves[name] = b
}

func withInit(pod *corev1.Pod, inits ...corev1.Container) *corev1.Pod {
	pod.Spec.InitContainers = inits
	return pod
}

func withDeadline(pod *corev1.Pod, seconds int64) *corev1.Pod {
	pod.Spec.ActiveDeadlineSeconds = &seconds
	return pod
}

func TestAdopt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.behaves["main"] = behaviour{runs: time.Hour, code: 0}
		ctx, cancel := context.WithCancel(t.Context())
		p := New(f.config(), "sandbox", testPod(corev1.RestartPolicyNever, corev1.Container{Name: "main", Image: "app"}))
		go p.Run(ctx)
		time.Sleep(time.Minute)
		cancel()
		<-p.Done()
		if p.Removed() {
			t.Fatal("the pod was removed although only our process ended")
		}
		f.mu.Lock()
		saved := f.saved
		f.mu.Unlock()

		next := Adopt(f.config(), saved)
		go next.Run(t.Context())
		synctest.Wait()
		if got := summary(next.Snapshot()); got != "Running/ready main=running" {
			t.Errorf("after the restart: %s", got)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := summary(next.Snapshot()); got != "Succeeded main=Completed(0)" {
			t.Errorf("after the container's end: %s", got)
		}
		next.Stop(0)
		<-next.Done()
		if got := strings.Count(f.notes(), "start main"); got != 1 {
			t.Errorf("started %d times:\n%s", got, f.notes())
		}
	})
}

// TestStartedAgain is about pods whose containers are gone although the API says
// that they run: the machine was restarted, or its containers were stopped.
func TestStartedAgain(t *testing.T) {
	cases := map[string]struct {
		reason string
		policy corev1.RestartPolicy
		want   string
	}{
		"always": {"the new run counts as a restart", corev1.RestartPolicyAlways, "Running/ready main=running 5"},
		"never":  {"what must not run twice has failed", corev1.RestartPolicyNever, "Failed main=ContainerStatusUnknown(137) 4"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t)
				pod := testPod(c.policy, corev1.Container{Name: "main", Image: "app"})
				pod.Status.Phase = corev1.PodRunning
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", ContainerID: "runc://old", RestartCount: 4,
					State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
				p := New(f.config(), "sandbox", pod)
				go p.Run(t.Context())
				synctest.Wait()
				got := p.Snapshot()
				if text := fmt.Sprint(summary(got), " ", got.Status.ContainerStatuses[0].RestartCount); text != c.want {
					t.Errorf("%s: %s, want %s", c.reason, text, c.want)
				}
				p.Stop(time.Second)
				<-p.Done()
			})
		})
	}
}

func TestNextBackoff(t *testing.T) {
	cases := map[string]struct {
		last, ran time.Duration
		first     bool
		want      time.Duration
	}{
		"first":   {0, time.Second, true, 0},
		"second":  {0, time.Second, false, 10 * time.Second},
		"doubled": {10 * time.Second, time.Second, false, 20 * time.Second},
		"bounded": {5 * time.Minute, time.Second, false, 5 * time.Minute},
		"healed":  {5 * time.Minute, 10 * time.Minute, false, 0},
	}
	for name, c := range cases {
		if got := nextBackoff(c.last, c.ran, c.first); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
