// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"crypto/tls"
	"fmt"
	"sync"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
)

// secretCertificate is the certificate of a Secret. The last good one is kept:
// one that cannot be read, or a Secret that is gone, must not end the service.
type secretCertificate struct {
	secrets corev1listers.SecretNamespaceLister
	opts    Options
	log     *zap.SugaredLogger

	mu   sync.Mutex
	read *corev1.Secret // as it was when cert was read
	cert *tls.Certificate
}

// get is for tls.Config. It parses a certificate when the Secret has changed.
func (s *secretCertificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	secret, err := s.secrets.Get(s.opts.SecretName)
	if err == nil && secret != s.read {
		err = s.parse(secret)
	}
	if s.cert != nil {
		return s.cert, nil
	}
	return nil, fmt.Errorf("certificate of the webhook: %w", err)
}

func (s *secretCertificate) parse(secret *corev1.Secret) error {
	cert, err := tls.X509KeyPair(secret.Data[s.opts.ServerCertificateName], secret.Data[s.opts.ServerPrivateKeyName])
	if err == nil {
		s.read, s.cert = secret, &cert
		return nil
	}
	if s.cert != nil {
		s.read = secret // said once
		s.log.Errorw("The new certificate cannot be read, the old one stays", "secret", secret.Name, zap.Error(err))
	}
	return fmt.Errorf("secret %s: %w", secret.Name, err)
}
