// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package network knows the names that things have inside a cluster, and how
// they talk to each other there: servers, transports, dialers and the headers
// between them. It knows no API server.
package network

import (
	"bufio"
	"io"
	"os"
	"strings"
	"sync"
)

const (
	clusterDomainEnv     = "CLUSTER_DOMAIN"
	defaultClusterDomain = "cluster.local"
	resolvConf           = "/etc/resolv.conf"
)

// clusterDomain is found out once: it cannot change while a process runs.
var clusterDomain = sync.OnceValue(func() string {
	if d := os.Getenv(clusterDomainEnv); d != "" {
		return strings.TrimSuffix(d, ".")
	}
	f, err := os.Open(resolvConf)
	if err != nil {
		return defaultClusterDomain
	}
	defer func() { _ = f.Close() }()
	return domainFromResolvConf(f)
})

// GetClusterDomainName returns the domain that the cluster's names end in:
// from the environment variable CLUSTER_DOMAIN, else from the resolver's search
// list, else cluster.local.
func GetClusterDomainName() string { return clusterDomain() }

// GetServiceHostname returns the fully qualified name of a k8s Service.
func GetServiceHostname(name, namespace string) string {
	return strings.Join([]string{name, namespace, "svc", GetClusterDomainName()}, ".")
}

// domainFromResolvConf looks for a search domain svc.X, which a pod has, and
// returns X.
func domainFromResolvConf(r io.Reader) string {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || fields[0] != "search" {
			continue
		}
		for _, domain := range fields[1:] {
			if d, ok := strings.CutPrefix(domain, "svc."); ok {
				return strings.TrimSuffix(d, ".")
			}
		}
	}
	return defaultClusterDomain
}
