// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"net/http"
	"strconv"
)

// writeHead writes the head of a request into the buffer of the connection. The names and values were checked by the
// server that received them.
func (c *conn) writeHead(q *Request) {
	w := c.bw
	w.WriteString(q.Method)
	w.WriteByte(' ')
	w.WriteString(q.Target)
	w.WriteString(" HTTP/1.1\r\nHost: ")
	w.WriteString(q.Host)
	w.WriteString("\r\n")
	for name, values := range q.Header {
		for _, v := range values {
			c.writeField(name, v)
		}
	}
	c.writeFraming(q)
	if q.Upgrade != "" {
		c.writeField("Connection", "Upgrade")
		c.writeField("Upgrade", q.Upgrade)
	}
	w.WriteString("\r\n")
}

func (c *conn) writeField(name, value string) {
	c.bw.WriteString(name)
	c.bw.WriteString(": ")
	c.bw.WriteString(value)
	c.bw.WriteString("\r\n")
}

func (c *conn) writeFraming(q *Request) {
	switch {
	case q.Body == nil:
		if q.Method == http.MethodPost || q.Method == http.MethodPut || q.Method == http.MethodPatch {
			c.writeField("Content-Length", "0")
		}
		return
	case q.Length >= 0:
		c.writeField("Content-Length", strconv.FormatInt(q.Length, 10))
	default:
		c.writeField("Transfer-Encoding", "chunked")
		for name := range q.Trailer {
			c.writeField("Trailer", name)
		}
	}
	if q.Expect {
		c.writeField("Expect", "100-continue")
	}
}

// writeChunk writes a part of the body; chunked says that its length goes before it.
func (c *conn) writeChunk(p []byte, chunked bool) error {
	if chunked {
		var size [20]byte
		c.bw.Write(strconv.AppendInt(size[:0], int64(len(p)), 16))
		c.bw.WriteString("\r\n")
	}
	c.bw.Write(p)
	if chunked {
		c.bw.WriteString("\r\n")
	}
	return c.bw.Flush()
}

// writeEnd ends a chunked body. Request.Scrub checked the trailers.
func (c *conn) writeEnd(trailer http.Header) error {
	c.bw.WriteString("0\r\n")
	for name, values := range trailer {
		for _, v := range values {
			c.writeField(name, v)
		}
	}
	c.bw.WriteString("\r\n")
	return c.bw.Flush()
}
