// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrs "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/lineage"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/kmap"
	"weir.dev/pkg/kmeta"
)

// errConflict says that the revision name of the user's choice is in use: it is shown, and not tried again before something
// changes.
var errConflict = errors.New("revision name conflict")

// latestCreated finds or makes the Revision of config's present generation. It returns nil without an error where there is
// none and trying again changes nothing.
func (r *Reconciler) latestCreated(ctx context.Context, config *v1.Configuration, all []*v1.Revision) (*v1.Revision, error) {
	rev, err := r.find(ctx, config, all)
	if rev == nil && err == nil {
		rev, err = r.create(ctx, config)
	}
	if errors.Is(err, errConflict) {
		config.Status.MarkRevisionCreationFailed(
			apierrs.NewAlreadyExists(serving.Resource("revisions"), config.Spec.Template.Name).Error())
		return nil, nil
	}
	return rev, err
}

// find looks in the cache; nil without an error means that there is none.
func (r *Reconciler) find(ctx context.Context, config *v1.Configuration, all []*v1.Revision) (*v1.Revision, error) {
	name := config.Spec.Template.Name
	if name == "" {
		for _, rev := range all {
			if rev.Labels[serving.ConfigurationGenerationLabelKey] == lineage.Label(config) {
				return rev, nil
			}
		}
		return nil, nil
	}
	rev, err := r.revisions.Revisions(config.Namespace).Get(name)
	switch {
	case apierrs.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("getting Revision %q: %w", name, err)
	case lineage.Conflicts(ctx, config, rev):
		if err := await(rev, config); err != nil {
			return nil, err
		}
		return nil, errConflict
	}
	return rev, nil
}

// create makes the Revision. That it exists already means that the cache is behind, or that somebody else has the name.
func (r *Reconciler) create(ctx context.Context, config *v1.Configuration) (*v1.Revision, error) {
	client, recorder := r.client.ServingV1().Revisions(config.Namespace), controller.GetEventRecorder(ctx)
	want := makeRevision(config, r.now())
	created, err := client.Create(ctx, want, metav1.CreateOptions{})
	if apierrs.IsAlreadyExists(err) {
		live, getErr := client.Get(ctx, want.Name, metav1.GetOptions{})
		if getErr == nil {
			if !lineage.Conflicts(ctx, config, live) {
				return live, nil
			}
			if err := await(live, config); err != nil {
				return nil, err
			}
			if config.Spec.Template.Name != "" {
				return nil, errConflict
			}
		}
	}
	if controller.IsNamespaceTerminating(err) {
		return nil, fmt.Errorf("creating Revision %q: %w", want.Name, err)
	}
	if err != nil {
		config.Status.MarkRevisionCreationFailed(err.Error())
		recorder.Eventf(config, corev1.EventTypeWarning, "CreationFailed", "Failed to create Revision %q: %v", want.Name, err)
		return nil, fmt.Errorf("creating Revision %q: %w", want.Name, err)
	}
	recorder.Eventf(config, corev1.EventTypeNormal, "Created", "Created Revision %q", created.Name)
	return created, nil
}

// await asks for another run while rev, which has the name, is on its way out with an earlier Configuration.
func await(rev *v1.Revision, config *v1.Configuration) error {
	err := controller.AwaitCollection(rev, config)
	if err != nil {
		config.Status.MarkLatestCreatedWaiting(rev.Name, "WaitingForDeletion", "the one of an earlier Configuration is about to be deleted.")
	}
	return err
}

// makeRevision returns the Revision of config's present generation. Where Routes lead to config, it is born routed: they will
// lead to it, too, and its least scale holds from the start.
//
// Of the template's metadata name, labels and annotations count. The rest is not the user's to say: nobody would remove a
// finalizer from the template, say, and the Revision could never be deleted.
func makeRevision(config *v1.Configuration, now time.Time) *v1.Revision {
	template := config.Spec.Template.DeepCopy()
	rev := &v1.Revision{
		ObjectMeta: metav1.ObjectMeta{
			Name:            template.Name,
			Namespace:       config.Namespace,
			Labels:          template.Labels,
			Annotations:     template.Annotations,
			OwnerReferences: []metav1.OwnerReference{*kmeta.NewControllerRef(config)},
		},
		Spec: template.Spec,
	}
	if rev.Name == "" {
		rev.Name = kmeta.ChildName(config.Name, fmt.Sprintf("-%05d", config.Generation))
	}
	rev.Labels = kmap.Union(rev.Labels, lineageLabels(config))
	rev.Annotations = kmap.Copy(rev.Annotations)
	if modifier, ok := config.Annotations[serving.UpdaterAnnotation]; ok {
		rev.Annotations[serving.CreatorAnnotation] = modifier
	}
	state := v1.RoutingStatePending
	if routes := config.Annotations[serving.RoutesAnnotationKey]; routes != "" {
		rev.Annotations[serving.RoutesAnnotationKey] = routes
		state = v1.RoutingStateActive
	}
	rev.SetRoutingState(state, now)
	return rev
}

// lineageLabels say where a Revision of config comes from.
func lineageLabels(config *v1.Configuration) map[string]string {
	labels := map[string]string{
		serving.ConfigurationLabelKey:           config.Name,
		serving.ConfigurationUIDLabelKey:        string(config.UID),
		serving.ConfigurationGenerationLabelKey: lineage.Label(config),
	}
	for _, key := range []string{serving.ServiceLabelKey, serving.ServiceUIDLabelKey} {
		if value, ok := config.Labels[key]; ok {
			labels[key] = value
		}
	}
	return labels
}

// latestReady returns the Revision that config's status is to name, nil to leave it as it is: the newest ready one, no older
// than the one that the status names and no newer than config; one that the template names goes before all.
func latestReady(config *v1.Configuration, all []*v1.Revision) *v1.Revision {
	oldest := int64(0)
	for _, rev := range all {
		if rev.Name == config.Status.LatestReadyRevisionName {
			oldest = lineage.Generation(rev)
		}
	}
	var best *v1.Revision
	for _, rev := range all {
		g := lineage.Generation(rev)
		switch {
		case !rev.IsReady():
		case rev.Name == config.Spec.Template.Name:
			return rev
		case g >= oldest && g <= config.Generation && (best == nil || g > lineage.Generation(best)):
			best = rev
		}
	}
	return best
}
