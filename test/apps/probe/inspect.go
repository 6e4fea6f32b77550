// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"
)

// most is how much of a file is told.
const most = 64 << 10

// inspect tells who the process is, and about files: those given as stat, read, list (directories) and open (for writing, which
// changes nothing).
func inspect(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	cwd, _ := os.Getwd()
	groups, _ := os.Getgroups()
	host, _ := os.Hostname()
	writeJSON(w, map[string]any{
		"uid": os.Getuid(), "gid": os.Getgid(), "groups": groups, "cwd": cwd, "args": os.Args, "hostname": host, "pid": os.Getpid(),
		"stdin": readStdin(),
		"stat":  each(r.Form["stat"], stat),
		"read":  each(r.Form["read"], read),
		"list":  each(r.Form["list"], list),
		"open":  each(r.Form["open"], open),
	})
}

// each is what tell says of each path, or its error.
func each(paths []string, tell func(path string) (map[string]any, error)) map[string]any {
	all := map[string]any{}
	for _, path := range paths {
		told, err := tell(path)
		if err != nil {
			told = failure(err)
		}
		all[path] = told
	}
	return all
}

func stat(path string) (map[string]any, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	told := map[string]any{"mode": info.Mode().String()}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		told["uid"], told["gid"] = owner.Uid, owner.Gid
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		told["link"], _ = os.Readlink(path)
		if target, err := os.Stat(path); err == nil {
			told["target"] = target.Mode().String()
		}
	}
	return told, nil
}

func read(path string) (map[string]any, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most))
	return map[string]any{"text": string(data)}, err
}

func list(path string) (map[string]any, error) {
	entries, err := os.ReadDir(path)
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return map[string]any{"names": names}, err
}

// open tries to open for writing, and writes nothing.
func open(path string) (map[string]any, error) {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	return map[string]any{}, file.Close()
}

// errno is the system's name of an error, as ENOENT, "" where it has none.
func errno(err error) string {
	names := map[syscall.Errno]string{
		syscall.EACCES: "EACCES", syscall.EPERM: "EPERM", syscall.EROFS: "EROFS", syscall.ENOENT: "ENOENT", syscall.ENOSPC: "ENOSPC",
	}
	var number syscall.Errno
	if !errors.As(err, &number) {
		return ""
	}
	if name, ok := names[number]; ok {
		return name
	}
	return fmt.Sprint(int(number))
}

// readStdin tells how a read of stdin ends; one that does not end is told after a second.
func readStdin() string {
	result := make(chan string, 1)
	go func() {
		n, err := os.Stdin.Read(make([]byte, 1))
		result <- fmt.Sprintf("%d %v", n, err)
	}()
	select {
	case text := <-result:
		return text
	case <-time.After(time.Second):
		return "blocks"
	}
}

// write makes a file of the text, or of as many bytes as mb says.
func write(w http.ResponseWriter, r *http.Request) {
	text := []byte(r.FormValue("text"))
	if mb, err := strconv.Atoi(r.FormValue("mb")); err == nil {
		text = make([]byte, mb<<20)
	}
	writeResult(w, os.WriteFile(r.FormValue("path"), text, 0o644))
}

func writeResult(w http.ResponseWriter, err error) {
	told := map[string]any{}
	if err != nil {
		told = failure(err)
	}
	writeJSON(w, told)
}

func failure(err error) map[string]any {
	return map[string]any{"error": err.Error(), "errno": errno(err)}
}

// allocate takes memory.
func allocate(w http.ResponseWriter, r *http.Request) {
	mb, err := strconv.Atoi(r.FormValue("mb"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintln(w, take(mb))
}

// take takes memory and touches it: what is only reserved costs nothing. It gives the number of bytes.
func take(mb int) int {
	memory := make([]byte, mb<<20)
	for i := 0; i < len(memory); i += os.Getpagesize() {
		memory[i] = 1
	}
	return len(memory)
}

// device makes a device node and opens it.
func device(w http.ResponseWriter, r *http.Request) {
	major, majorErr := strconv.Atoi(r.FormValue("major"))
	minor, minorErr := strconv.Atoi(r.FormValue("minor"))
	if err := errors.Join(majorErr, minorErr); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	path := r.FormValue("path")
	err := syscall.Mknod(path, syscall.S_IFCHR|0o600, major<<8|minor)
	if err == nil {
		var file *os.File
		if file, err = os.Open(path); err == nil {
			err = file.Close()
		}
	}
	writeResult(w, err)
}
