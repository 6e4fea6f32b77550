// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"weir.dev/embedded/cluster/datadir"
	"weir.dev/embedded/cluster/pki"
)

// Kubeconfig is the path of the administrator's kubeconfig, mode 0600.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.cfg.DataDir, "kubeconfig") }

func (c *Cluster) writeKubeconfig() error {
	kc := clientcmdapi.NewConfig()
	kc.Clusters["weir"] = &clientcmdapi.Cluster{
		Server:                   "https://" + c.APIServer(),
		CertificateAuthorityData: c.pki.authority.CA.Cert,
	}
	kc.AuthInfos["admin"] = &clientcmdapi.AuthInfo{
		ClientCertificateData: c.pki.admin.Cert,
		ClientKeyData:         c.pki.admin.Key,
	}
	kc.Contexts["weir"] = &clientcmdapi.Context{Cluster: "weir", AuthInfo: "admin", Namespace: "default"}
	kc.CurrentContext = "weir"
	raw, err := clientcmd.Write(*kc)
	if err != nil {
		return fmt.Errorf("encode kubeconfig: %w", err)
	}
	return datadir.WriteFile(c.Kubeconfig(), raw, 0o600)
}

// certificates are what the parts of the cluster show each other.
type certificates struct {
	authority      *pki.Authority
	serving        pki.KeyPair // API server
	admin          pki.KeyPair // group system:masters: the kubeconfig's
	controllers    pki.KeyPair // built-in controllers, told from people by their name
	kubeletClient  pki.KeyPair // API server towards node agents
	frontProxy     pki.KeyPair // API server towards aggregated API servers
	serviceAccount pki.KeyPair // signs tokens; only the key is used
}

func (c *Cluster) issueCertificates() (certificates, error) {
	authority, err := pki.Open(filepath.Join(c.cfg.DataDir, "pki"))
	if err != nil {
		return certificates{}, err
	}
	p := certificates{authority: authority}
	issue := func(into *pki.KeyPair, name string, leaf pki.Leaf) {
		if err == nil {
			*into, err = authority.Issue(name, leaf)
		}
	}
	issue(&p.serving, "apiserver", pki.Leaf{CommonName: "kube-apiserver", Names: c.servingNames(), Server: true})
	issue(&p.admin, "admin", pki.Leaf{CommonName: "weir:admin", Organization: []string{"system:masters"}})
	issue(&p.controllers, "controllers", pki.Leaf{CommonName: "system:kube-controller-manager", Organization: []string{"system:masters"}})
	issue(&p.kubeletClient, "kubelet-client", pki.Leaf{CommonName: "kube-apiserver-kubelet-client"})
	issue(&p.frontProxy, "front-proxy", pki.Leaf{CommonName: frontProxyName})
	issue(&p.serviceAccount, "service-account", pki.Leaf{CommonName: "service-account-tokens"})
	return p, err
}

// frontProxyName is the only name whose bearer may speak for others (X-Remote-User).
const frontProxyName = "front-proxy-client"

// servingNames are all the names by which clients on the machine and in pods reach the API server.
func (c *Cluster) servingNames() []string {
	domain := c.cfg.ClusterDomain
	names := []string{
		"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc." + domain,
		"127.0.0.1", c.cfg.ServiceCIDR.Masked().Addr().Next().String(),
	}
	if c.cfg.Advertise.IsValid() {
		names = append(names, c.cfg.Advertise.String())
	}
	return names
}
