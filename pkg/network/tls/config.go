// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package tls reads what operators allow of TLS from the environment. Every
// server and client of a component that terminates TLS asks it, each with a
// prefix of its own.
package tls

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"strings"
)

// The environment variables, each after the prefix of a component.
const (
	// MinVersionEnvKey is the lowest version, 1.2 or 1.3 (the default).
	MinVersionEnvKey = "TLS_MIN_VERSION"
	// MaxVersionEnvKey is the highest version, 1.2 or 1.3; by default the
	// highest that there is.
	MaxVersionEnvKey = "TLS_MAX_VERSION"
	// CipherSuitesEnvKey lists cipher suites of TLS 1.2, comma-separated, by
	// their IANA names; by default Go's choice. Those of 1.3 cannot be chosen.
	CipherSuitesEnvKey = "TLS_CIPHER_SUITES"
	// CurvePreferencesEnvKey lists key exchanges, comma-separated, by their Go or
	// standard names, as in X25519MLKEM768 or P-256; by default Go's choice.
	CurvePreferencesEnvKey = "TLS_CURVE_PREFERENCES"
)

// DefaultConfigFromEnv returns a configuration of what the variables with the
// prefix, as in "WEBHOOK_", allow. Without any it is TLS 1.3. Its errors name
// the variable.
func DefaultConfigFromEnv(prefix string) (*tls.Config, error) {
	lowest, errMin := read(prefix+MinVersionEnvKey, parseVersion)
	highest, errMax := read(prefix+MaxVersionEnvKey, parseVersion)
	suites, errSuites := read(prefix+CipherSuitesEnvKey, list(parseCipherSuite))
	curves, errCurves := read(prefix+CurvePreferencesEnvKey, list(parseCurve))
	if err := errors.Join(errMin, errMax, errSuites, errCurves); err != nil {
		return nil, err
	}
	lowest = cmp.Or(lowest, tls.VersionTLS13)
	if highest != 0 && highest < lowest {
		return nil, fmt.Errorf("%s: %s is lower than the minimum, %s",
			prefix+MaxVersionEnvKey, tls.VersionName(highest), tls.VersionName(lowest))
	}
	return &tls.Config{MinVersion: lowest, MaxVersion: highest, CipherSuites: suites, CurvePreferences: curves}, nil
}

// read parses a variable; one that is unset or blank gives the zero value.
func read[T any](name string, parse func(string) (T, error)) (T, error) {
	value := strings.TrimSpace(os.Getenv(name))
	if value == "" {
		return *new(T), nil
	}
	parsed, err := parse(value)
	if err != nil {
		return *new(T), fmt.Errorf("%s: %w", name, err)
	}
	return parsed, nil
}

// list parses comma-separated values and passes over blank ones.
func list[T any](parse func(string) (T, error)) func(string) ([]T, error) {
	return func(value string) ([]T, error) {
		var all []T
		for item := range strings.SplitSeq(value, ",") {
			if item = strings.TrimSpace(item); item == "" {
				continue
			}
			parsed, err := parse(item)
			if err != nil {
				return nil, err
			}
			all = append(all, parsed)
		}
		return all, nil
	}
}

func parseVersion(value string) (uint16, error) {
	switch value {
	case "1.2":
		return tls.VersionTLS12, nil
	case "1.3":
		return tls.VersionTLS13, nil
	}
	return 0, fmt.Errorf("unknown TLS version %q: it is 1.2 or 1.3", value)
}

func parseCipherSuite(value string) (uint16, error) {
	for _, suite := range tls.CipherSuites() {
		if suite.Name == value {
			return suite.ID, nil
		}
	}
	for _, suite := range tls.InsecureCipherSuites() {
		if suite.Name == value {
			return 0, fmt.Errorf("cipher suite %s is insecure", value)
		}
	}
	return 0, fmt.Errorf("unknown cipher suite %q", value)
}

func parseCurve(value string) (tls.CurveID, error) {
	switch value {
	case "X25519":
		return tls.X25519, nil
	case "X25519MLKEM768":
		return tls.X25519MLKEM768, nil
	case "SecP256r1MLKEM768":
		return tls.SecP256r1MLKEM768, nil
	case "SecP384r1MLKEM1024":
		return tls.SecP384r1MLKEM1024, nil
	case "CurveP256", "P-256", "secp256r1":
		return tls.CurveP256, nil
	case "CurveP384", "P-384", "secp384r1":
		return tls.CurveP384, nil
	case "CurveP521", "P-521", "secp521r1":
		return tls.CurveP521, nil
	}
	return 0, fmt.Errorf("unknown curve %q", value)
}
