// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgotesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	autoscalingv1alpha1 "weir.dev/api/autoscaling/v1alpha1"
	v1 "weir.dev/api/serving/v1"
	revisionreconciler "weir.dev/client/injection/reconciler/serving/v1/revision"
	"weir.dev/internal/controlplane/config"
	"weir.dev/internal/controlplane/digest"
	"weir.dev/internal/controlplane/fixture"
	"weir.dev/internal/controlplane/revision/workload"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/controller"
	logtesting "weir.dev/pkg/logging/testing"
	"weir.dev/pkg/ptr"
	rtesting "weir.dev/pkg/reconciler/testing"
)

const sha = "index.docker.io/library/img@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// registry is a Digests that knows its answers.
type registry map[string]digest.Result

func (r registry) Resolve(digest.Request) (map[string]digest.Result, bool) { return r, r != nil }
func (r registry) Forget(types.UID)                                        {}

var drain = netip.MustParseAddrPort("10.0.0.1:8022")

func settings() workload.Settings {
	c := config.Default()
	return workload.Settings{Deployment: c.Deployment, Autoscaler: c.Autoscaler, Drain: drain}
}

// rev is a Revision whose image was looked up.
func rev(changes ...func(*v1.Revision)) *v1.Revision {
	return fixture.Revision("app", 1, append([]func(*v1.Revision){func(rev *v1.Revision) {
		rev.Status.ObservedGeneration = rev.Generation
		rev.Status.InitializeConditions()
		rev.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "user-container", ImageDigest: sha}}
	}}, changes...)...)
}

// deployment is rev's, some minutes old.
func deployment(changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	d := workload.Deployment(rev(), settings(), nil)
	d.CreationTimestamp = metav1.NewTime(fixture.Now.Add(-5 * time.Minute))
	d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: "True", Reason: "NewReplicaSetCreated"}}
	for _, change := range changes {
		change(d)
	}
	return d
}

func replicas(n int32) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.Int32(n) }
}

// pa is rev's PodAutoscaler.
func pa(changes ...func(*autoscalingv1alpha1.PodAutoscaler)) *autoscalingv1alpha1.PodAutoscaler {
	p := workload.PodAutoscaler(rev(), workload.Outlook{}, nil)
	for _, change := range changes {
		change(p)
	}
	return p
}

// scaled is what a PodAutoscaler says when instances are up, or were once.
func scaled(active corev1.ConditionStatus, reason, message string) func(*autoscalingv1alpha1.PodAutoscaler) {
	return func(p *autoscalingv1alpha1.PodAutoscaler) {
		p.Status.ServiceName = p.Name
		p.Status.ActualScale, p.Status.DesiredScale = ptr.Int32(1), ptr.Int32(1)
		p.Status.MarkSKSReady()
		p.Status.MarkScaleTargetInitialized()
		switch active {
		case corev1.ConditionTrue:
			p.Status.MarkActive()
		case corev1.ConditionFalse:
			p.Status.MarkInactive(reason, message)
		default:
			p.Status.MarkActivating(reason, message)
		}
	}
}

func starting(p *autoscalingv1alpha1.PodAutoscaler) {
	p.Status.ServiceName = p.Name
	p.Status.MarkSKSReady()
	p.Status.MarkActivating("Queued", "queued")
	p.Status.InitializeConditions()
}

func unreachable(p *autoscalingv1alpha1.PodAutoscaler) { p.Spec.Reachability = "Unreachable" }

// pod is one of rev's, a minute old.
func pod(status corev1.ContainerStatus, ready corev1.ConditionStatus) *corev1.Pod {
	status.Name = "user-container"
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "pod", Labels: workload.PodSelector(rev()),
			CreationTimestamp: metav1.NewTime(fixture.Now.Add(-time.Minute)),
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "user-container"}}},
		Status: corev1.PodStatus{
			ContainerStatuses: []corev1.ContainerStatus{status},
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}},
		},
	}
}

func waiting(reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message},
	}}
}

func running() corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
}

func crashed() corev1.ContainerStatus {
	return corev1.ContainerStatus{LastTerminationState: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Message: "boom"},
	}}
}

// deploying says that the start goes on.
func deploying(rev *v1.Revision) {
	rev.Status.MarkActiveUnknown("Queued", "queued")
	rev.Status.MarkResourcesAvailableUnknown("Deploying", "")
}

// wellUp says that instances are up.
func wellUp(rev *v1.Revision) {
	rev.Status.MarkActiveTrue()
	rev.Status.MarkResourcesAvailableTrue()
	rev.Status.MarkContainerHealthyTrue()
	rev.Status.ActualReplicas, rev.Status.DesiredReplicas = ptr.Int32(1), ptr.Int32(1)
}

func unavailable(reason, message string) func(*v1.Revision) {
	return func(rev *v1.Revision) { rev.Status.MarkResourcesAvailableFalse(reason, message) }
}

func unhealthy(reason, message string) func(*v1.Revision) {
	return func(rev *v1.Revision) { rev.Status.MarkContainerHealthyFalse(reason, message) }
}

func idle(rev *v1.Revision) {
	rev.Status.MarkActiveFalse("NoTraffic", "none")
}

func factory(images registry) rtesting.Factory { return factoryOn(images, nil) }

// factoryOn has local images, too.
func factoryOn(images registry, local map[string]string) rtesting.Factory {
	return fixture.Factory(func(t *testing.T, w *fixture.World) controller.Reconciler {
		return revisionreconciler.NewReconciler(t.Context(), logtesting.TestLogger(t), w.Client, w.Revisions(), w.Recorder, &Reconciler{
			kube: w.Kube, client: w.Client, configurations: w.Configurations(), deployments: w.Deployments(),
			autoscalers: w.PodAutoscalers(), pods: w.Pods(), tracker: &rtesting.FakeTracker{},
			digests: images, localImage: func(image string) string { return local[image] }, drain: drain, now: func() time.Time { return fixture.Now },
			asked: digest.NewPauses(clocktesting.NewFakeClock(fixture.Now)),
		})
	})
}

func updates(objects ...runtime.Object) []clientgotesting.UpdateActionImpl {
	all := make([]clientgotesting.UpdateActionImpl, 0, len(objects))
	for _, o := range objects {
		all = append(all, clientgotesting.UpdateActionImpl{Object: o})
	}
	return all
}

func TestReconcile(t *testing.T) {
	readyEvent := rtesting.Eventf("Normal", "RevisionReady", "Revision becomes ready upon all resources being ready")
	undigested := func(rev *v1.Revision) { rev.Status.ContainerStatuses = nil }
	rtesting.TableTest{{
		Name: "new: the image is looked up, then all is made",
		Key:  "ns/app-00001",
		Objects: []runtime.Object{
			rev(undigested),
		},
		WantCreates: []runtime.Object{workload.Deployment(rev(), settings(), nil), pa()},
		WantStatusUpdates: updates(rev(func(rev *v1.Revision) {
			rev.Status.MarkActiveUnknown("Deploying", "")
			rev.Status.MarkContainerHealthyUnknown("Deploying", "")
			rev.Status.MarkResourcesAvailableUnknown("Deploying", "")
		})),
	}, {
		Name:    "starting: nothing changed, nothing is written but that it is to be looked at again",
		Key:     "ns/app-00001",
		Objects: []runtime.Object{rev(deploying), deployment(), pa(starting), pod(waiting("ContainerCreating", ""), "False")},
		WantErr: true, // to come back at the deadline
	}, {
		Name:              "becomes ready",
		Key:               "ns/app-00001",
		Objects:           []runtime.Object{rev(deploying), deployment(), pa(scaled("True", "", "")), pod(corev1.ContainerStatus{}, "True")},
		WantStatusUpdates: updates(rev(wellUp)),
		WantEvents:        []string{readyEvent},
	}, {
		Name:    "ready: nothing changed, nothing is written",
		Key:     "ns/app-00001",
		Objects: []runtime.Object{rev(wellUp), deployment(replicas(7)), pa(scaled("True", "", "")), pod(corev1.ContainerStatus{}, "True")},
	}, {
		Name:              "at zero: still ready",
		Key:               "ns/app-00001",
		Objects:           []runtime.Object{rev(wellUp), deployment(replicas(0)), pa(scaled("False", "NoTraffic", "none"))},
		WantStatusUpdates: updates(rev(wellUp, idle)),
	}, {
		Name:              "image cannot be pulled: told at once",
		Key:               "ns/app-00001",
		Objects:           []runtime.Object{rev(deploying), deployment(), pa(starting), pod(waiting("ErrImagePull", "no such image"), "False")},
		WantErr:           true,
		WantUpdates:       updates(pa(starting, unreachable)),
		WantStatusUpdates: updates(rev(deploying, unavailable("ErrImagePull", "no such image"))),
	}, {
		Name:              "crash: told at once",
		Key:               "ns/app-00001",
		Objects:           []runtime.Object{rev(deploying), deployment(), pa(starting), pod(crashed(), "False")},
		WantErr:           true,
		WantUpdates:       updates(pa(starting, unreachable)),
		WantStatusUpdates: updates(rev(deploying, unhealthy("ExitCode3", "Container failed with: boom"))),
	}, {
		Name: "quota: told at once",
		Key:  "ns/app-00001",
		Objects: []runtime.Object{rev(deploying), pa(starting), deployment(func(d *appsv1.Deployment) {
			d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{
				Type: appsv1.DeploymentReplicaFailure, Status: "True", Reason: "FailedCreate", Message: "exceeded quota",
			})
		})},
		WantUpdates:       updates(pa(starting, unreachable)),
		WantStatusUpdates: updates(rev(deploying, unavailable("FailedCreate", "exceeded quota"))),
	}, {
		Name: "quota, but instances are up: well",
		Key:  "ns/app-00001",
		Objects: []runtime.Object{rev(wellUp), pa(scaled("True", "", "")), pod(corev1.ContainerStatus{}, "True"), deployment(func(d *appsv1.Deployment) {
			d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{Type: appsv1.DeploymentReplicaFailure, Status: "True"})
		})},
	}, {
		Name:              "does not wake up: not ready, with the cause",
		Key:               "ns/app-00001",
		Objects:           []runtime.Object{rev(wellUp, idle), deployment(), pa(scaled("Unknown", "Queued", "queued")), pod(crashed(), "False")},
		WantErr:           true,
		WantUpdates:       updates(pa(scaled("Unknown", "Queued", "queued"), unreachable)),
		WantStatusUpdates: updates(rev(wellUp, func(rev *v1.Revision) { rev.Status.MarkActiveUnknown("Queued", "queued") }, unhealthy("ExitCode3", "Container failed with: boom"))),
	}, {
		Name: "given up after a failed wake-up: the cause stays",
		Key:  "ns/app-00001",
		Objects: []runtime.Object{
			rev(wellUp, unavailable("ErrImagePull", "gone"), idle), deployment(replicas(0)), pa(scaled("False", "NoTraffic", "none")),
		},
	}, {
		Name: "woken again, not up yet: the cause stays",
		Key:  "ns/app-00001",
		Objects: []runtime.Object{
			rev(wellUp, unavailable("ErrImagePull", "gone"), idle), deployment(), pa(scaled("False", "NoTraffic", "none"), unreachable), pod(waiting("ContainerCreating", ""), "False"),
		},
		WantErr: true,
	}, {
		Name: "up again: the cause goes",
		Key:  "ns/app-00001",
		Objects: []runtime.Object{
			rev(wellUp, unavailable("ErrImagePull", "gone")), deployment(), pa(scaled("True", "", ""), unreachable), pod(corev1.ContainerStatus{}, "True"),
		},
		WantUpdates:       updates(pa(scaled("True", "", ""))),
		WantStatusUpdates: updates(rev(wellUp)),
		WantEvents:        []string{readyEvent},
	}, {
		Name: "no visible cause: every Unknown ends at the deadline",
		Key:  "ns/app-00001",
		Objects: []runtime.Object{rev(deploying), pa(starting), deployment(func(d *appsv1.Deployment) {
			d.CreationTimestamp = metav1.NewTime(fixture.Now.Add(-10 * time.Minute))
		})},
		WantStatusUpdates: updates(rev(deploying, unavailable("ProgressDeadlineExceeded", "Initial scale was not achieved within 10m0s"))),
	}, {
		Name: "no answer on the port: at the deadline the cause is named, whichever clock is first",
		Key:  "ns/app-00001",
		Objects: []runtime.Object{rev(deploying), pa(starting), pod(running(), "False"), deployment(func(d *appsv1.Deployment) {
			d.CreationTimestamp = metav1.NewTime(fixture.Now.Add(-10 * time.Minute))
		})},
		WantUpdates: updates(pa(starting, unreachable)),
		WantStatusUpdates: updates(rev(deploying, unhealthy("ReadinessProbeFailed",
			`Container "user-container" runs, but its readiness probe (none) did not succeed within 10m0s.`))),
	}, {
		Name:    "changed: the Deployment follows and keeps its scale",
		Key:     "ns/app-00001",
		Objects: []runtime.Object{rev(wellUp, func(rev *v1.Revision) { rev.Labels["new"] = "x" }), deployment(replicas(7)), pa(scaled("True", "", "")), pod(corev1.ContainerStatus{}, "True")},
		WantUpdates: updates(
			workload.Deployment(rev(func(rev *v1.Revision) { rev.Labels["new"] = "x" }), settings(), deployment(replicas(7))),
			pa(scaled("True", "", ""), func(p *autoscalingv1alpha1.PodAutoscaler) { p.Labels["new"] = "x" }),
		),
	}, {
		Name:              "somebody else's Deployment is left alone",
		Key:               "ns/app-00001",
		Objects:           []runtime.Object{rev(), deployment(func(d *appsv1.Deployment) { d.OwnerReferences = nil })},
		WantErr:           true,
		WantStatusUpdates: updates(rev(func(rev *v1.Revision) { rev.Status.MarkResourceNotOwned("Deployment", "app-00001-deployment") })),
		WantEvents:        []string{rtesting.Eventf("Warning", "InternalError", "Revision %q does not own Deployment %q", "app-00001", "app-00001-deployment")},
	}, {
		Name: "somebody else's PodAutoscaler is left alone",
		Key:  "ns/app-00001",
		Objects: []runtime.Object{
			rev(deploying), deployment(), pa(func(p *autoscalingv1alpha1.PodAutoscaler) { p.OwnerReferences = nil }), pod(waiting("ContainerCreating", ""), "False"),
		},
		WantErr:           true,
		WantStatusUpdates: updates(rev(deploying, func(rev *v1.Revision) { rev.Status.MarkResourceNotOwned("PodAutoscaler", "app-00001") })),
		WantEvents:        []string{rtesting.Eventf("Warning", "InternalError", "Revision %q does not own PodAutoscaler %q", "app-00001", "app-00001")},
	}}.Test(t, factory(registry{"img": {Digest: sha}}))
}

func TestReconcileDigests(t *testing.T) {
	undigested := func(rev *v1.Revision) { rev.Status.ContainerStatuses = nil }
	known := func(d string) func(*v1.Revision) {
		return func(rev *v1.Revision) {
			rev.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "user-container", ImageDigest: d}}
		}
	}
	warned := func(reason, message string) func(*v1.Revision) {
		return func(rev *v1.Revision) {
			rev.GetConditionSet().Manage(&rev.Status).SetCondition(apis.Condition{
				Type: ConditionDigestsPinned, Status: "False", Severity: apis.ConditionSeverityWarning, Reason: reason, Message: message,
			})
		}
	}
	const unresolved = `Unable to fetch image "img": failed to resolve image to digest: no route. Each instance runs what the tag means to its node when it starts.`
	const byTag = `Image "img" was not resolved before instances started; they are started by digest once there are none.`
	unpinned := workload.Deployment(rev(known("")), settings(), nil)
	unpinned.CreationTimestamp = deployment().CreationTimestamp
	unpinned.Status = deployment().Status
	up := pod(corev1.ContainerStatus{ImageID: "img@" + sha[len(sha)-71:]}, "True")

	rtesting.TableTest{{
		Name:              "the registry has not answered",
		Key:               "ns/app-00001",
		Objects:           []runtime.Object{rev(undigested)},
		WantStatusUpdates: updates(rev(undigested, func(rev *v1.Revision) { rev.Status.MarkResourcesAvailableUnknown("ResolvingDigests", "") })),
	}}.Test(t, factory(nil))

	rtesting.TableTest{{
		Name:        "the registry is out of reach: started all the same, with a warning",
		Key:         "ns/app-00001",
		Objects:     []runtime.Object{rev(undigested)},
		WantErr:     true, // asks again later
		WantCreates: []runtime.Object{workload.Deployment(rev(known("")), settings(), nil), pa()},
		WantStatusUpdates: updates(rev(known(""), warned("Unresolved", unresolved), func(rev *v1.Revision) {
			rev.Status.MarkActiveUnknown("Deploying", "")
			rev.Status.MarkContainerHealthyUnknown("Deploying", "")
			rev.Status.MarkResourcesAvailableUnknown("Deploying", "")
		})),
	}, {
		Name:              "the node knows: told, but nothing that runs is restarted",
		Key:               "ns/app-00001",
		Objects:           []runtime.Object{rev(wellUp, known(""), warned("Unresolved", unresolved)), unpinned, pa(scaled("True", "", "")), up},
		WantStatusUpdates: updates(rev(wellUp, warned("StartedByTag", byTag))),
	}, {
		Name: "at zero the Deployment takes the digest up, and the warning goes",
		Key:  "ns/app-00001",
		Objects: []runtime.Object{rev(wellUp, warned("StartedByTag", byTag)), func() runtime.Object {
			d := unpinned.DeepCopy()
			d.Spec.Replicas = ptr.Int32(0)
			return d
		}(), pa(scaled("True", "", ""))},
		WantUpdates: updates(func() runtime.Object {
			d := unpinned.DeepCopy()
			d.Spec.Replicas = ptr.Int32(0)
			return workload.Deployment(rev(), settings(), d)
		}()),
		WantStatusUpdates: updates(rev(wellUp)),
	}}.Test(t, factory(registry{"img": {Err: errors.New("no route")}}))

	down := pod(running(), "True") // of a node that does not say what it runs
	rtesting.TableTest{{
		Name: "the registry answers after all: told, but nothing that runs is restarted",
		Key:  "ns/app-00001",
		Objects: []runtime.Object{
			rev(wellUp, known(""), warned("Unresolved", unresolved)), unpinned, pa(scaled("True", "", "")), down,
		},
		WantStatusUpdates: updates(rev(wellUp, warned("StartedByTag", byTag))),
	}}.Test(t, factory(registry{"img": {Digest: sha}}))

	local := func(rev *v1.Revision) { rev.Spec.Containers[0].Image = "weir.local/img" }
	rtesting.TableTest{{
		Name:        "a local image is never looked up",
		Key:         "ns/app-00001",
		Objects:     []runtime.Object{rev(undigested, local)},
		WantCreates: []runtime.Object{workload.Deployment(rev(known(""), local), settings(), nil), pa()},
		WantStatusUpdates: updates(rev(known(""), local, func(rev *v1.Revision) {
			rev.Status.MarkActiveUnknown("Deploying", "")
			rev.Status.MarkContainerHealthyUnknown("Deploying", "")
			rev.Status.MarkResourcesAvailableUnknown("Deploying", "")
		})),
	}}.Test(t, factory(nil))

	pinned := "weir.local/img@" + sha[len(sha)-71:]
	rtesting.TableTest{{
		Name:        "a local image that is there is pinned: a later build of the tag changes no Revision",
		Key:         "ns/app-00001",
		Objects:     []runtime.Object{rev(undigested, local)},
		WantCreates: []runtime.Object{workload.Deployment(rev(known(pinned), local), settings(), nil), pa()},
		WantStatusUpdates: updates(rev(known(pinned), local, func(rev *v1.Revision) {
			rev.Status.MarkActiveUnknown("Deploying", "")
			rev.Status.MarkContainerHealthyUnknown("Deploying", "")
			rev.Status.MarkResourcesAvailableUnknown("Deploying", "")
		})),
	}, {
		Name:              "a local image that was built later is pinned then",
		Key:               "ns/app-00001",
		Objects:           []runtime.Object{rev(wellUp, known(""), local), workload.Deployment(rev(known(""), local), settings(), deployment()), pa(scaled("True", "", "")), up},
		WantStatusUpdates: updates(rev(wellUp, known(pinned), local)),
	}}.Test(t, factoryOn(nil, map[string]string{"weir.local/img": pinned}))
}
