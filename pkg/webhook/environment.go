// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"os"
	"strconv"

	"weir.dev/pkg/environment"
)

// Environment variables of a webhook process.
const (
	nameEnvKey       = "WEBHOOK_NAME"
	portEnvKey       = "WEBHOOK_PORT"
	secretNameEnvKey = "WEBHOOK_SECRET_NAME"
	noOwnerEnvKey    = "WEBHOOK_DISABLE_NAMESPACE_OWNERSHIP"

	// tlsEnvPrefix is followed by TLS_MIN_VERSION and the like.
	tlsEnvPrefix = "WEBHOOK_"
)

// NameFromEnv is the name of the webhook's k8s Service, from WEBHOOK_NAME. It
// panics without one: certificates would be for somebody else.
func NameFromEnv() string {
	if name := os.Getenv(nameEnvKey); name != "" {
		return name
	}
	panic(fmt.Sprintf("the environment variable %q is not set: it must name the k8s Service of the webhook", nameEnvKey))
}

// PortFromEnv is the port to serve on, from WEBHOOK_PORT, else defaultPort. It
// panics on what is no port.
func PortFromEnv(defaultPort int) int {
	port, err := environment.Port(portEnvKey, defaultPort)
	if err != nil {
		panic(err)
	}
	return port
}

// SecretNameFromEnv is the name of the Secret with the server's certificate,
// from WEBHOOK_SECRET_NAME, else defaultSecretName.
func SecretNameFromEnv(defaultSecretName string) string {
	if name := os.Getenv(secretNameEnvKey); name != "" {
		return name
	}
	return defaultSecretName
}

// ownershipDisabledByEnv tells whether WEBHOOK_DISABLE_NAMESPACE_OWNERSHIP says
// so: any value but a negation does.
func ownershipDisabledByEnv() bool {
	value := os.Getenv(noOwnerEnvKey)
	disabled, err := strconv.ParseBool(value)
	return value != "" && (disabled || err != nil)
}
