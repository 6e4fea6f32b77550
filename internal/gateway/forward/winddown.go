// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"context"
	"io"
	"net"
	"time"

	"weir.dev/internal/gateway/backend"
)

// windDownLimit is how long a program may go on with a request that nobody waits for before its slot is given to another.
const windDownLimit = 30 * time.Second

// windDown keeps the slot of a request that was given up (its client left, its time was over) until the program is done with
// it. A program that does not notice works on, and with a limit of one it must not get a second request meanwhile. It is
// told by the end of our side of the connection, and tells by the end of its own. (HTTP/2 has no such sign: there a slot is
// free as soon as the stream is reset.)
func (f *Forwarder) windDown(c net.Conn, lease backend.Lease) {
	f.winding.Go(func() {
		defer lease.Vacate()
		defer c.Close()
		defer context.AfterFunc(f.winding.ctx, func() { c.Close() })()
		_ = c.SetDeadline(time.Now().Add(windDownLimit))
		if half, ok := c.(interface{ CloseWrite() error }); !ok || half.CloseWrite() != nil {
			return
		}
		_, _ = io.Copy(io.Discard, c)
	})
}
