// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package leaderelection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"weir.dev/pkg/hash"
	"weir.dev/pkg/network"
	"weir.dev/pkg/reconciler"
	"weir.dev/pkg/system"
)

// The environment of a StatefulSet whose pods each lead the bucket of their
// ordinal, without any lease.
const (
	// OrdinalEnvKey is the pod's name, which ends in its ordinal, or the ordinal
	// alone. It is what makes a process lead by ordinal.
	OrdinalEnvKey = "STATEFUL_CONTROLLER_ORDINAL"
	// ServiceNameEnvKey is the headless Service that the pods have their names in.
	ServiceNameEnvKey = "STATEFUL_SERVICE_NAME"
	// ServicePortEnvKey is the port of the pods, 80 by default.
	ServicePortEnvKey = "STATEFUL_SERVICE_PORT"
	// ServiceProtocolEnvKey is the protocol of the pods, http by default.
	ServiceProtocolEnvKey = "STATEFUL_SERVICE_PROTOCOL"
)

// WithStatefulSetElectorBuilder returns a context whose electors lead the
// bucket from the start to the end: the StatefulSet sees to it that nobody else
// has it.
func WithStatefulSetElectorBuilder(ctx context.Context, _ ComponentConfig, bucket reconciler.Bucket) context.Context {
	return context.WithValue(ctx, builderKey{}, builder(
		func(_ context.Context, la reconciler.LeaderAware, _ string, enq Enqueue) (Elector, error) {
			return &unopposed{la: la, bucket: bucket, enq: enq}, nil
		}))
}

// withOrdinal is WithStatefulSetElectorBuilder of what the environment says.
// What is wrong with it is told when an elector is built.
func withOrdinal(ctx context.Context, cc ComponentConfig) context.Context {
	bucket, _, err := NewStatefulSetBucketAndSet(int(cc.Buckets))
	if err == nil {
		return WithStatefulSetElectorBuilder(ctx, cc, bucket)
	}
	return context.WithValue(ctx, builderKey{}, builder(
		func(context.Context, reconciler.LeaderAware, string, Enqueue) (Elector, error) { return nil, err }))
}

// NewStatefulSetBucketAndSet returns this pod's bucket and all of them. A
// bucket's name is the URL of the pod that leads it.
func NewStatefulSetBucketAndSet(buckets int) (reconciler.Bucket, *hash.BucketSet, error) {
	if buckets < 1 || buckets > MaxBuckets {
		return nil, nil, fmt.Errorf("buckets: want 1 to %d, got %d", MaxBuckets, buckets)
	}
	set, err := statefulSetFromEnv()
	if err != nil {
		return nil, nil, err
	}
	if set.ordinal >= buckets {
		return nil, nil, fmt.Errorf("%s: ordinal %d is not below the number of buckets, %d", OrdinalEnvKey, set.ordinal, buckets)
	}
	names := sets.New[string]()
	for i := range buckets {
		names.Insert(set.url(i))
	}
	all := hash.NewBucketSet(names)
	for _, bucket := range all.Buckets() {
		if bucket.Name() == set.url(set.ordinal) {
			return bucket, all, nil
		}
	}
	panic("leaderelection: a bucket set lacks a name that it was made of")
}

// statefulSet is what the environment says of the pods.
type statefulSet struct {
	ordinal                       int
	pods                          string // the name of a pod without -<ordinal>
	protocol, service, host, port string
}

func statefulSetFromEnv() (*statefulSet, error) {
	s := &statefulSet{
		service:  os.Getenv(ServiceNameEnvKey),
		protocol: cmp.Or(os.Getenv(ServiceProtocolEnvKey), "http"),
		port:     cmp.Or(os.Getenv(ServicePortEnvKey), "80"),
	}
	var errs []error
	if s.service == "" {
		errs = append(errs, fmt.Errorf("%s is not set", ServiceNameEnvKey))
	}
	if port, err := strconv.ParseUint(s.port, 10, 16); err != nil || port == 0 {
		errs = append(errs, fmt.Errorf("%s: %q is not a port", ServicePortEnvKey, s.port))
	}
	if err := s.parseOrdinal(os.Getenv(OrdinalEnvKey)); err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", OrdinalEnvKey, err))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	s.host = network.GetServiceHostname(s.service, system.Namespace())
	return s, nil
}

// parseOrdinal reads <pods>-<ordinal>, or an ordinal alone: then the pods are
// called like their Service.
func (s *statefulSet) parseOrdinal(value string) error {
	s.pods = s.service
	number := value
	if i := strings.LastIndexByte(value, '-'); i > 0 {
		s.pods, number = value[:i], value[i+1:]
	}
	ordinal, err := strconv.ParseUint(number, 10, 31)
	if err != nil {
		return fmt.Errorf("%q does not end in an ordinal: %w", value, err)
	}
	s.ordinal = int(ordinal)
	return nil
}

// url is where the pod of the ordinal answers.
func (s *statefulSet) url(ordinal int) string {
	return s.protocol + "://" + net.JoinHostPort(fmt.Sprintf("%s-%d.%s", s.pods, ordinal, s.host), s.port)
}
