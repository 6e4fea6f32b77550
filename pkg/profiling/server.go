// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package profiling

import (
	"net/http"
	"os"
	"strconv"
	"time"

	"weir.dev/pkg/environment"
)

const (
	// PortEnvKey is the environment variable of the port of NewServer.
	PortEnvKey = "PROFILING_PORT"

	defaultPort = 8008
)

// NewServer returns a server of the handler on the port that the environment
// says, by default 8008. One that says no port fails when it is to listen.
// Writing has no time limit: a profile may be taken over minutes.
func NewServer(handler http.Handler) *http.Server {
	addr := ":" + os.Getenv(PortEnvKey)
	if port, err := environment.Port(PortEnvKey, defaultPort); err == nil {
		addr = ":" + strconv.Itoa(port)
	}
	return &http.Server{Addr: addr, Handler: handler, ReadHeaderTimeout: 15 * time.Second}
}
