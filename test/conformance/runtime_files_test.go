// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// "The OCI default devices and links MUST be there", DNS files of the cluster and /tmp too; there is no console.
func TestRuntimeFiles(t *testing.T) {
	s := parallelSpace(t)
	const device = "Dcrw-rw-rw-"
	link := func(to string) string { return "^Lrwxrwxrwx -> " + to + "$" }
	want := map[string]string{ // mode, and target of a link
		"/tmp":             "^dt?rwxrwxrwx",
		"/dev/shm":         "^dt?rwxrwxrwx",
		"/dev/full":        device,
		"/dev/null":        device,
		"/dev/random":      device,
		"/dev/tty":         device,
		"/dev/urandom":     device,
		"/dev/zero":        device,
		"/dev/ptmx":        "^(L.* -> pts/ptmx|Dcrw-rw-rw-)",
		"/dev/fd":          link("/proc/self/fd"),
		"/dev/stdin":       link("/proc/self/fd/0"),
		"/dev/stdout":      link("/proc/self/fd/1"),
		"/dev/stderr":      link("/proc/self/fd/2"),
		"/proc/self/fd/0":  "^L",
		"/proc/self/fd/1":  "^L",
		"/proc/self/fd/2":  "^L",
		"/etc/hosts":       "^-rw.r..r..",
		"/etc/hostname":    "^-rw.r..r..",
		"/etc/resolv.conf": "^-rw.r..r..",
	}
	query := url.Values{"stat": {"/dev/console"}, "read": {"/etc/hosts", "/etc/hostname", "/etc/resolv.conf"}, "list": {"/dev"}}
	for path := range want {
		query.Add("stat", path)
	}
	got := s.inspect(s.run(), query)
	for path, pattern := range want {
		f := got.Stat[path]
		text := f.Mode
		if f.Link != "" {
			text += " -> " + f.Link
		}
		if f.Error != "" || !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("%s: %s %s, want %s", path, text, f.Error, pattern)
		}
	}
	if f := got.Stat["/dev/console"]; f.Errno != "ENOENT" {
		t.Errorf("/dev/console: %+v, want none", f)
	}
	s.checkNames(got)
	checkDevices(t, got.List["/dev"].Names)
}

// checkNames looks whether the cluster's names and one's own resolve.
func (s *space) checkNames(got told) {
	s.t.Helper()
	if host := got.Read["/etc/hostname"].Text; strings.TrimSpace(host) != got.Hostname || got.Hostname == "" {
		s.t.Errorf("/etc/hostname is %q, the host's name %q", host, got.Hostname)
	}
	if hosts := got.Read["/etc/hosts"].Text; !strings.Contains(hosts, got.Hostname) || !strings.Contains(hosts, "localhost") {
		s.t.Errorf("/etc/hosts: %s", hosts)
	}
	if resolv := got.Read["/etc/resolv.conf"].Text; !strings.Contains(resolv, "nameserver") || !strings.Contains(resolv, s.ns+".svc.") {
		s.t.Errorf("/etc/resolv.conf: %s", resolv)
	}
}

// checkDevices wants no device but the default ones: developers get none of the machine's.
func checkDevices(t *testing.T, names []string) {
	t.Helper()
	usual := []string{
		"core", "fd", "full", "mqueue", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "termination-log", "tty",
		"urandom", "zero",
	}
	for _, name := range names {
		if !slices.Contains(usual, name) {
			t.Errorf("/dev/%s is in the container", name)
		}
	}
}

// "/tmp MUST be writable", by whoever the program runs as; "reads of stdin SHOULD give the end of the file".
func TestRuntimeTmpAndStdin(t *testing.T) {
	s := parallelSpace(t)
	app := s.run(asUser(2020))
	if err := s.write(app, "/tmp/file", "kept"); err.Error != "" {
		t.Errorf("write to /tmp: %+v", err)
	}
	got := s.inspect(app, url.Values{"read": {"/tmp/file"}})
	if text := got.Read["/tmp/file"].Text; text != "kept" {
		t.Errorf("the file holds %q", text)
	}
	if got.Stdin != "0 EOF" {
		t.Errorf("a read of stdin gives %q, want the end", got.Stdin)
	}
}

// write makes the program write a file, and gives the error.
func (s *space) write(app, path, text string) (failed file) {
	s.t.Helper()
	s.getJSON(app+"/write?"+url.Values{"path": {path}, "text": {text}}.Encode(), &failed)
	return failed
}
