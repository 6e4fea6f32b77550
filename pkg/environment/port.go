// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Port is the port that the environment variable key says, else fallback. Where
// there is a Service of that name, as "webhook" for WEBHOOK_PORT, Kubernetes
// sets the same variable to tcp://<address>:<port> in every pod beside it;
// that is not meant for the process and counts as nothing.
func Port(key string, fallback int) (int, error) {
	value := os.Getenv(key)
	if value == "" || strings.HasPrefix(value, "tcp://") || strings.HasPrefix(value, "udp://") {
		return fallback, nil
	}
	port, err := strconv.ParseUint(value, 10, 16)
	if err != nil || port == 0 {
		return 0, fmt.Errorf("the environment variable %q must be a port from 1 to 65535, not %q", key, value)
	}
	return int(port), nil
}
