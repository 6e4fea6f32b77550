// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"crypto/tls"
	"fmt"

	networktls "weir.dev/pkg/network/tls"
)

// tls returns the settings of the options, and those of the environment that
// the options leave out. The certificate is the caller's.
func (o Options) tls() (*tls.Config, error) {
	cfg, err := networktls.DefaultConfigFromEnv(tlsEnvPrefix)
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	if o.TLSMinVersion != 0 {
		cfg.MinVersion = o.TLSMinVersion
	}
	if o.TLSMaxVersion != 0 {
		cfg.MaxVersion = o.TLSMaxVersion
	}
	if o.TLSCipherSuites != nil {
		cfg.CipherSuites = o.TLSCipherSuites
	}
	if o.TLSCurvePreferences != nil {
		cfg.CurvePreferences = o.TLSCurvePreferences
	}
	return cfg, checkVersions(cfg)
}

// checkVersions allows TLS 1.2 and 1.3; zero, of the greatest, is the newest.
func checkVersions(cfg *tls.Config) error {
	for _, version := range []uint16{cfg.MinVersion, cfg.MaxVersion} {
		if version != 0 && version != tls.VersionTLS12 && version != tls.VersionTLS13 {
			return fmt.Errorf("webhook: TLS version %s is neither 1.2 nor 1.3", tls.VersionName(version))
		}
	}
	if cfg.MaxVersion != 0 && cfg.MaxVersion < cfg.MinVersion {
		return fmt.Errorf("webhook: the greatest TLS version, %s, is below the least, %s",
			tls.VersionName(cfg.MaxVersion), tls.VersionName(cfg.MinVersion))
	}
	return nil
}
