// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"k8s.io/client-go/rest"

	"weir.dev/embedded/cluster/datadir"
	"weir.dev/embedded/cluster/pki"
)

// Config says where a cluster keeps its data and which addresses are its own.
type Config struct {
	// DataDir is a directory of this cluster alone. It is created with mode 0700, survives restarts and carries a format
	// version. Required.
	DataDir string
	// ServiceCIDR is the range of ClusterIPs. The zero value is 10.96.0.0/16.
	ServiceCIDR netip.Prefix
	// Advertise is the address under which pods reach the API server, at the port of its loopback listener; somebody else
	// relays it. The zero value publishes no endpoint for the Service "kubernetes".
	Advertise netip.Addr
	// ClusterDomain is the DNS suffix of Services; "" is cluster.local.
	ClusterDomain string
}

// Cluster is an embedded Kubernetes control plane.
type Cluster struct {
	cfg   Config
	pki   certificates
	ln    net.Listener
	ready chan struct{}
}

// New prepares the data directory (format version, certificates, kubeconfig) and claims the API server's loopback port,
// the same as last time where it is free. Nothing runs before Run. It fails if the directory was written by a newer Weir.
func New(cfg Config) (*Cluster, error) {
	cfg.setDefaults()
	if cfg.DataDir == "" {
		return nil, errors.New("cluster: no data directory given")
	}
	if err := datadir.Prepare(cfg.DataDir); err != nil {
		return nil, err
	}
	ln, err := datadir.ListenAPI(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	c := &Cluster{cfg: cfg, ln: ln, ready: make(chan struct{})}
	if c.pki, err = c.issueCertificates(); err == nil {
		err = c.writeKubeconfig()
	}
	if err != nil {
		ln.Close()
		return nil, err
	}
	return c, nil
}

func (c *Config) setDefaults() {
	if !c.ServiceCIDR.IsValid() {
		c.ServiceCIDR = netip.MustParsePrefix("10.96.0.0/16")
	}
	if c.ClusterDomain == "" {
		c.ClusterDomain = "cluster.local"
	}
}

// Ready is closed once the API server answers its readiness check and the default namespace and service account exist.
func (c *Cluster) Ready() <-chan struct{} { return c.ready }

// Authority issues certificates that the cluster trusts, such as a node agent's serving certificate.
func (c *Cluster) Authority() *pki.Authority { return c.pki.authority }

// APIServer is the loopback address of the API server, host:port.
func (c *Cluster) APIServer() string { return c.ln.Addr().String() }

// RESTConfig gives a client configuration with the administrator's certificate and without client-side throttling. Each
// call gives a new copy.
func (c *Cluster) RESTConfig() *rest.Config { return c.configOf(c.pki.admin) }

// ConfigFor gives a client configuration of somebody else: a user of that name in these groups, who may do what roles bound to
// them allow.
func (c *Cluster) ConfigFor(user string, groups ...string) (*rest.Config, error) {
	pair, err := c.pki.authority.Issue("user-"+strings.ReplaceAll(user, ":", "-"), pki.Leaf{CommonName: user, Organization: groups})
	if err != nil {
		return nil, fmt.Errorf("certificate of user %q: %w", user, err)
	}
	return c.configOf(pair), nil
}

func (c *Cluster) configOf(user pki.KeyPair) *rest.Config {
	return &rest.Config{
		Host: "https://" + c.APIServer(),
		TLSClientConfig: rest.TLSClientConfig{
			CAData:   c.pki.authority.CA.Cert,
			CertData: user.Cert,
			KeyData:  user.Key,
		},
		QPS: -1, // the API server's own priority and fairness decides
	}
}

// Run starts etcd, the API server, the controllers and the scheduler in this order and returns, after all of them ended,
// when ctx is done or one of them failed. A Cluster runs once.
func (c *Cluster) Run(ctx context.Context) error {
	etcd, err := c.startEtcd()
	if err != nil {
		c.ln.Close()
		return err
	}
	defer etcd.Close()

	// The API server outlives its clients, so that controllers can end cleanly.
	apiCtx, stopAPI := context.WithCancel(context.WithoutCancel(ctx))
	defer stopAPI()
	apiDone := make(chan error, 1)
	go func() { apiDone <- c.runAPIServer(apiCtx, etcd) }()

	innerCtx, stop := context.WithCancel(ctx)
	defer stop()
	inner := make(chan error, 1)
	go func() { inner <- c.runControllers(innerCtx) }()

	var apiErr, innerErr error
	select {
	case apiErr = <-apiDone:
		stop()
		innerErr = <-inner
	case innerErr = <-inner:
		stopAPI()
		apiErr = <-apiDone
	case err := <-etcd.Err():
		stop()
		innerErr = errors.Join(fmt.Errorf("etcd: %w", err), <-inner)
		stopAPI()
		apiErr = <-apiDone
	}
	return errors.Join(ignoreCancel(apiErr), ignoreCancel(innerErr))
}

func ignoreCancel(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
