// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"syscall"
	"unsafe"
)

// idleProbe looks at a socket without reading from it. Its closures are made once per connection.
type idleProbe struct {
	raw     syscall.RawConn
	peek    func(fd uintptr) bool
	isQuiet bool
	blind   bool // of tests: takes every connection for alive
	buf     [1]byte
}

func newIdleProbe(sc syscall.Conn) *idleProbe {
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	p := &idleProbe{raw: raw}
	p.peek = func(fd uintptr) bool {
		_, _, err := syscall.Recvfrom(int(fd), p.buf[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		p.isQuiet = err == syscall.EAGAIN
		return true
	}
	return p
}

// quiet says that the other side neither closed nor sent anything.
func (p *idleProbe) quiet() bool { return p.blind || p.raw.Read(p.peek) == nil && p.isQuiet }

// bytesAckedOffset is where struct tcp_info of linux/tcp.h (4.1 and later) has tcpi_bytes_acked.
const bytesAckedOffset = 120

// acked is how many bytes of ours the kernel of the other side acknowledged; the maximum if that cannot be found out.
func (p *idleProbe) acked() int64 {
	const unknown = 1<<63 - 1
	var info [256]byte
	size := uint32(len(info))
	var errno syscall.Errno
	err := p.raw.Control(func(fd uintptr) {
		_, _, errno = syscall.Syscall6(syscall.SYS_GETSOCKOPT, fd, syscall.IPPROTO_TCP, syscall.TCP_INFO,
			uintptr(unsafe.Pointer(&info[0])), uintptr(unsafe.Pointer(&size)), 0)
	})
	if err != nil || errno != 0 || size < bytesAckedOffset+8 {
		return unknown
	}
	n := *(*uint64)(unsafe.Pointer(&info[bytesAckedOffset]))
	if n > 0 {
		n-- // the SYN counts as one
	}
	return int64(min(n, unknown))
}
