//go:build deps

package deps

import (
	_ "github.com/google/nftables"
	_ "github.com/miekg/dns"
	_ "github.com/moby/profiles/seccomp"
	_ "github.com/opencontainers/runtime-spec/specs-go"
	_ "github.com/virtual-kubelet/virtual-kubelet/node"
	_ "github.com/virtual-kubelet/virtual-kubelet/node/nodeutil"
	_ "github.com/vishvananda/netlink"
	_ "github.com/fsnotify/fsnotify"
	_ "golang.org/x/sys/unix"
)
