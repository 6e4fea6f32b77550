// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// runAPIServer runs kube-apiserver on the loopback listener until ctx is done.
func (c *Cluster) runAPIServer(ctx context.Context, etcd *embed.Etcd) error {
	opts := c.apiServerOptions(etcd)
	if err := opts.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return fmt.Errorf("API server feature gates: %w", err)
	}
	completed, err := opts.Complete(ctx)
	if err != nil {
		return fmt.Errorf("complete API server options: %w", err)
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return fmt.Errorf("API server options: %w", errors.Join(errs...))
	}
	if err := app.Run(ctx, completed); err != nil {
		return fmt.Errorf("API server: %w", err)
	}
	return nil
}

func (c *Cluster) apiServerOptions(etcd *embed.Etcd) *options.ServerRunOptions {
	o := options.NewServerRunOptions()
	client := etcd.Config().ListenClientUrls[0]
	o.Etcd.StorageConfig.Transport.ServerList = []string{client.String()}

	o.SecureServing.Listener = c.ln
	o.SecureServing.BindAddress = net.IPv4(127, 0, 0, 1)
	o.SecureServing.BindPort = c.ln.Addr().(*net.TCPAddr).Port
	o.SecureServing.ServerCert.CertKey.CertFile = c.pki.serving.CertFile
	o.SecureServing.ServerCert.CertKey.KeyFile = c.pki.serving.KeyFile
	o.ServiceClusterIPRanges = c.cfg.ServiceCIDR.String()
	// Ends watches when it stops: else it would wait a minute for whoever has one open.
	o.GenericServerRunOptions.ShutdownWatchTerminationGracePeriod = time.Second
	c.advertise(o)
	c.authenticate(o)

	o.KubeletConfig.TLSClientConfig.CertFile = c.pki.kubeletClient.CertFile
	o.KubeletConfig.TLSClientConfig.KeyFile = c.pki.kubeletClient.KeyFile
	o.KubeletConfig.TLSClientConfig.CAFile = c.pki.authority.CA.CertFile
	o.KubeletConfig.PreferredAddressTypes = []string{"InternalIP"}
	return o
}

func (c *Cluster) advertise(o *options.ServerRunOptions) {
	if c.cfg.Advertise.IsValid() {
		o.GenericServerRunOptions.AdvertiseAddress = c.cfg.Advertise.AsSlice()
		return
	}
	o.GenericServerRunOptions.AdvertiseAddress = net.IPv4(127, 0, 0, 1)
	o.EndpointReconcilerType = "none"
}

func (c *Cluster) authenticate(o *options.ServerRunOptions) {
	o.Authentication.Anonymous.Allow = false
	o.Authentication.ClientCert.ClientCA = c.pki.authority.CA.CertFile
	o.Authentication.RequestHeader.ClientCAFile = c.pki.authority.CA.CertFile
	o.Authentication.RequestHeader.AllowedNames = []string{frontProxyName}
	o.Authentication.RequestHeader.UsernameHeaders = []string{"X-Remote-User"}
	o.Authentication.RequestHeader.GroupHeaders = []string{"X-Remote-Group"}
	o.Authentication.RequestHeader.ExtraHeaderPrefixes = []string{"X-Remote-Extra-"}
	o.ProxyClientCertFile = c.pki.frontProxy.CertFile
	o.ProxyClientKeyFile = c.pki.frontProxy.KeyFile

	o.Authentication.ServiceAccounts.Issuers = []string{"https://kubernetes.default.svc." + c.cfg.ClusterDomain}
	o.Authentication.ServiceAccounts.KeyFiles = []string{c.pki.serviceAccount.KeyFile}
	o.ServiceAccountSigningKeyFile = c.pki.serviceAccount.KeyFile
	o.Authorization.Modes = []string{"Node", "RBAC"}
}
