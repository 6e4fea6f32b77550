// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"k8s.io/client-go/kubernetes"

	"weir.dev/embedded/node/pull"
	"weir.dev/embedded/node/sandbox"
)

// Config is what a node is made from.
type Config struct {
	// Name is the node's name in the API.
	Name string
	// DataDir is the system's data directory; the node uses its folder "node".
	DataDir string
	// Client reaches the API. Its rate limit should be that of a kubelet or
	// none: pods wait for it.
	Client kubernetes.Interface
	// Images is the machine's image store (*image.Store).
	Images pull.Store
	// InsecureRegistry says which registries may be asked over plain HTTP
	// besides those on loopback; nil means no other.
	InsecureRegistry func(host string) bool
	// Network gives sandboxes their network.
	Network sandbox.Network
	// ClusterDNS and ClusterDomain are the resolver and domain of pods.
	ClusterDNS    netip.Addr
	ClusterDomain string
	// NodeIP is the node's address, reachable from pods and API server.
	NodeIP netip.Addr
	// Runtime is the OCI runtime, Monitor the conmon binary: names or paths.
	// Empty means runc and conmon.
	Runtime, Monitor string

	// Kubelet is where the API server asks for logs and commands; nil serves
	// nothing. KubeletTLS must verify client certificates
	// (tls.RequireAndVerifyClientCert), since that is all there is to know who
	// asks. KubeletClients, if not empty, are the common names that may.
	Kubelet        net.Listener
	KubeletTLS     *tls.Config
	KubeletClients []string

	// StopContainersOnExit stops all containers when Run ends. Their pods stay
	// in the API and are started again by the next Run. Otherwise containers run
	// on and the next Run takes them over.
	StopContainersOnExit bool
	// StopTimeout bounds that stop; 0 means 10 seconds.
	StopTimeout time.Duration

	// KubernetesVersion is shown as the kubelet's version.
	KubernetesVersion string
	// MaxPods is the node's capacity of pods; 0 means 500.
	MaxPods int64
	// PodPidsLimit bounds the processes of a pod; 0 is unlimited.
	PodPidsLimit int64
	// LogSize is how large a container's log gets before it is rotated, in
	// bytes; one rotated part is kept. 0 means 10 MiB.
	LogSize int64
	// Log may be nil.
	Log *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Name == "":
		return c, errors.New("node has no name")
	case c.DataDir == "":
		return c, errors.New("node has no data directory")
	case c.Client == nil || c.Images == nil || c.Network == nil:
		return c, errors.New("node needs a client, images and a network")
	case c.Kubelet != nil && (c.KubeletTLS == nil || c.KubeletTLS.ClientAuth != tls.RequireAndVerifyClientCert):
		return c, errors.New("node's logs and commands must not be served to clients without certificates")
	}
	set := func(s *string, value string) {
		if *s == "" {
			*s = value
		}
	}
	set(&c.Runtime, "runc")
	set(&c.Monitor, "conmon")
	set(&c.ClusterDomain, "cluster.local")
	set(&c.KubernetesVersion, "v1.37.2")
	if c.MaxPods == 0 {
		c.MaxPods = 500
	}
	if c.LogSize == 0 {
		c.LogSize = 10 << 20
	}
	if c.StopTimeout == 0 {
		c.StopTimeout = 10 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
