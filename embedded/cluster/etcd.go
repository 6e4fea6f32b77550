// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// maxSocketPath is what Linux allows for the name of a socket (sun_path), without the final zero.
const maxSocketPath = 107

// startEtcd starts the store and waits until it takes requests. It listens on sockets of a directory that only this user
// may enter, so that no other account of the machine can read or write the cluster's state.
func (c *Cluster) startEtcd() (*embed.Etcd, error) {
	sockets, err := c.socketDir()
	if err != nil {
		return nil, err
	}
	cfg := embed.NewConfig()
	cfg.Name = "weir"
	cfg.Dir = filepath.Join(c.cfg.DataDir, "etcd")
	cfg.LogLevel = "warn"
	cfg.LogOutputs = []string{filepath.Join(c.cfg.DataDir, "etcd.log")}
	cfg.ListenClientUrls = []url.URL{{Scheme: "unix", Path: filepath.Join(sockets, "client")}}
	cfg.AdvertiseClientUrls = cfg.ListenClientUrls
	cfg.ListenPeerUrls = []url.URL{{Scheme: "unix", Path: filepath.Join(sockets, "peer")}}
	cfg.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "localhost:2380"}} // a name only: there are no peers
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	for _, u := range append(cfg.ListenClientUrls, cfg.ListenPeerUrls...) {
		if err := os.Remove(u.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("remove stale socket: %w", err)
		}
	}
	etcd, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, fmt.Errorf("start etcd in %s: %w", cfg.Dir, err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err = <-etcd.Err():
	case <-time.After(time.Minute):
		err = errors.New("not ready after a minute")
	}
	etcd.Close()
	return nil, fmt.Errorf("start etcd in %s: %w", cfg.Dir, err)
}

// socketDir is <data>/run, or a directory of /run named after the data directory where that is too long for a socket.
func (c *Cluster) socketDir() (string, error) {
	dir, err := filepath.Abs(filepath.Join(c.cfg.DataDir, "run"))
	if err != nil {
		return "", err
	}
	if len(dir)+len("/client") > maxSocketPath {
		sum := sha256.Sum256([]byte(dir))
		dir = "/run/weir-" + hex.EncodeToString(sum[:6])
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("create socket directory: %w", err)
	}
	return dir, nil
}
