// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package volume puts the volumes of a pod into its sandbox's directories and
// says how a container mounts them. Kinds of volumes that need a driver are
// refused by name, never silently left empty.
package volume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
)

// ErrUnsupported says that no volume of this kind works on this node.
var ErrUnsupported = errors.New("volume type is not supported by this node")

// Source reads what projected volumes show.
type Source interface {
	ConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error)
	Secret(ctx context.Context, namespace, name string) (*corev1.Secret, error)
	// Token asks for a token of a service account.
	Token(ctx context.Context, namespace, account string, spec authenticationv1.TokenRequestSpec) (authenticationv1.TokenRequestStatus, error)
}

// Place is where one pod's volumes are.
type Place struct {
	// Disk and Memory are the sandbox's directories for volumes on disk and in
	// memory. Memory is a memory file system.
	Disk, Memory string
}

// Set are the volumes of one pod.
type Set struct {
	// mu keeps a refresh from swapping files while a container is given them.
	mu     sync.Mutex
	source Source
	place  Place
	node   corev1.ResourceList
	tokens map[string]token
	now    func() time.Time
}

// NewSet prepares a pod's volumes; node is what the node has, for files that
// show a limit which is not set.
func NewSet(source Source, place Place, node corev1.ResourceList) *Set {
	return &Set{source: source, place: place, node: node, tokens: map[string]token{}, now: time.Now}
}

// SetUp makes all volumes of the pod, or brings those that show API objects up
// to date. The pod's status must hold its addresses.
func (s *Set) SetUp(ctx context.Context, pod *corev1.Pod) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if err := s.setUp(ctx, pod, v); err != nil {
			return fmt.Errorf("volume %q: %w", v.Name, err)
		}
	}
	return nil
}

// Refresh brings the volumes that show API objects up to date.
func (s *Set) Refresh(ctx context.Context, pod *corev1.Pod) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if !projects(v) {
			continue
		}
		if err := s.setUp(ctx, pod, v); err != nil {
			errs = append(errs, fmt.Errorf("volume %q: %w", v.Name, err))
		}
	}
	return errors.Join(errs...)
}

// Refreshes says whether the pod has volumes that change.
func Refreshes(pod *corev1.Pod) bool {
	for i := range pod.Spec.Volumes {
		if projects(&pod.Spec.Volumes[i]) {
			return true
		}
	}
	return false
}

func projects(v *corev1.Volume) bool {
	return v.ConfigMap != nil || v.Secret != nil || v.DownwardAPI != nil || v.Projected != nil
}

func (s *Set) setUp(ctx context.Context, pod *corev1.Pod, v *corev1.Volume) error {
	switch {
	case v.EmptyDir != nil:
		return s.emptyDir(pod, v)
	case v.HostPath != nil:
		return checkHostPath(v.HostPath)
	case projects(v):
		files, err := s.payload(ctx, pod, v)
		if err != nil {
			return err
		}
		return writeAtomically(s.path(v), files, fsGroup(pod), s.now())
	}
	return ErrUnsupported
}

// path is the directory of the machine that a volume is.
func (s *Set) path(v *corev1.Volume) string {
	switch {
	case v.HostPath != nil:
		return v.HostPath.Path
	case projects(v):
		return filepath.Join(s.place.Memory, "volumes", v.Name)
	}
	return filepath.Join(s.place.Disk, v.Name)
}

func fsGroup(pod *corev1.Pod) *int64 {
	if pod.Spec.SecurityContext == nil {
		return nil
	}
	return pod.Spec.SecurityContext.FSGroup
}

func checkHostPath(h *corev1.HostPathVolumeSource) error {
	kind := corev1.HostPathUnset
	if h.Type != nil {
		kind = *h.Type
	}
	switch kind {
	case corev1.HostPathDirectoryOrCreate:
		return os.MkdirAll(h.Path, 0o755)
	case corev1.HostPathFileOrCreate:
		file, err := os.OpenFile(h.Path, os.O_CREATE|os.O_RDONLY, 0o644)
		if err != nil {
			return err
		}
		return file.Close()
	}
	info, err := os.Stat(h.Path)
	if err != nil {
		return err
	}
	mode := info.Mode()
	ok := map[corev1.HostPathType]bool{
		corev1.HostPathUnset:     true,
		corev1.HostPathDirectory: mode.IsDir(),
		corev1.HostPathFile:      mode.IsRegular(),
		corev1.HostPathSocket:    mode&os.ModeSocket != 0,
		corev1.HostPathCharDev:   mode&os.ModeCharDevice != 0,
		corev1.HostPathBlockDev:  mode&os.ModeDevice != 0 && mode&os.ModeCharDevice == 0,
	}[kind]
	if !ok {
		return fmt.Errorf("hostPath %s is not of type %s", h.Path, kind)
	}
	return nil
}
