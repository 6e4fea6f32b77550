// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package standalone

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"time"

	"k8s.io/client-go/kubernetes"

	"weir.dev/embedded/cluster/pki"
	"weir.dev/embedded/network"
	"weir.dev/embedded/node"
)

// kubeletClient is the name that the API server's certificate for node agents carries.
const kubeletClient = "kube-apiserver-kubelet-client"

// clientOf is a client of a user with the rights that Kubernetes gives such a one.
func (w *Weir) clientOf(user string, groups ...string) (kubernetes.Interface, error) {
	cfg, err := w.cluster.ConfigFor(user, groups...)
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(cfg)
}

// serveNetwork starts cluster DNS, ClusterIPs and the way from pods to the API server.
func (w *Weir) serveNetwork(context.Context) error {
	client, err := w.clientOf("system:kube-proxy")
	if err != nil {
		return err
	}
	w.stack.Run(PartNetwork, func(ctx context.Context) error {
		return w.network.Run(ctx, client, network.RunOptions{APIServer: w.cluster.APIServer()})
	})
	return nil
}

// startNode registers this machine as the cluster's only node and runs its pods.
func (w *Weir) startNode(ctx context.Context) error {
	if !w.cfg.has(PartNode) {
		return nil
	}
	cfg, err := w.nodeConfig()
	if err != nil {
		return err
	}
	n, err := node.New(cfg)
	if err != nil {
		return err
	}
	w.stack.Run(PartNode, n.Run)
	return w.stack.Until(ctx, "the node", n.Ready())
}

func (w *Weir) nodeConfig() (node.Config, error) {
	client, err := w.clientOf("system:node:"+nodeName, "system:nodes")
	if err != nil {
		return node.Config{}, err
	}
	kubelet, err := net.Listen("tcp4", netip.AddrPortFrom(w.network.BridgeIP(), 0).String())
	if err != nil {
		return node.Config{}, err
	}
	w.stack.OnStop("kubelet listener", func() error { kubelet.Close(); return nil })
	serving, roots, err := w.issue("kubelet", pki.Leaf{
		CommonName:   "system:node:" + nodeName,
		Organization: []string{"system:nodes"},
		Names:        []string{nodeName, w.network.BridgeIP().String()},
		Server:       true,
	})
	if err != nil {
		return node.Config{}, err
	}
	return node.Config{
		Name:          nodeName,
		DataDir:       w.cfg.DataDir,
		Client:        client,
		Images:        w.images,
		Network:       sandboxes{w.network},
		ClusterDNS:    w.network.DNSIP(),
		ClusterDomain: clusterDomain,
		NodeIP:        w.network.BridgeIP(),
		Kubelet:       kubelet,
		KubeletTLS: &tls.Config{
			MinVersion:   tls.VersionTLS13,
			Certificates: []tls.Certificate{serving},
			ClientAuth:   tls.RequireAndVerifyClientCert,
			ClientCAs:    roots,
		},
		KubeletClients:       []string{kubeletClient},
		StopContainersOnExit: !w.cfg.KeepContainers,
		StopTimeout:          20 * time.Second,
		Log:                  w.cfg.Log.With("part", PartNode),
	}, nil
}

// sandboxes is the network as the node sees it: the two packages do not know each other.
type sandboxes struct{ *network.Network }

func (s sandboxes) Attach(ctx context.Context, id string) (string, netip.Addr, error) {
	a, err := s.Network.Attach(ctx, id)
	return a.NetNS, a.IP, err
}
