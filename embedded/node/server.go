// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	vkapi "github.com/virtual-kubelet/virtual-kubelet/node/api"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/embedded/node/engine"
	"weir.dev/embedded/node/logs"
	"weir.dev/embedded/node/ociruntime"
	"weir.dev/embedded/node/sandbox"
)

// serve answers the API server's requests for logs, commands and ports of
// containers, under the paths of a kubelet.
func (n *Node) serve(ctx context.Context) error {
	if n.cfg.Kubelet == nil {
		<-ctx.Done()
		return nil
	}
	server := &http.Server{Handler: n.onlyClients(n.handler()), ReadHeaderTimeout: 30 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	err := server.Serve(tls.NewListener(n.cfg.Kubelet, n.cfg.KubeletTLS))
	if ctx.Err() != nil || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve: %w", err)
}

// onlyClients lets through who has one of the expected certificates; that they
// are genuine has been checked by the handshake.
func (n *Node) onlyClients(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
			return
		}
		name := r.TLS.PeerCertificates[0].Subject.CommonName
		if len(n.cfg.KubeletClients) > 0 && !slices.Contains(n.cfg.KubeletClients, name) {
			http.Error(w, "Forbidden", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (n *Node) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", n.logs)
	mux.Handle("/", vkapi.PodHandler(vkapi.PodHandlerConfig{
		RunInContainer:        n.exec,
		PortForward:           n.forward,
		GetPods:               n.provider.GetPods,
		GetPodsFromKubernetes: n.provider.GetPods,
		// Sessions end when their client or their command does.
		StreamIdleTimeout: 4 * time.Hour,
	}, false))
	return mux
}

// logs writes a container's log, in the query's form of v1.PodLogOptions.
func (n *Node) logs(w http.ResponseWriter, r *http.Request) {
	options, err := logOptions(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	running := n.provider.byName(r.PathValue("namespace"), r.PathValue("pod"))
	if running == nil {
		http.Error(w, "pod is not on this node", http.StatusNotFound)
		return
	}
	c, ended, err := running.NewestRun(r.PathValue("container"), options.Previous)
	if err != nil {
		message := fmt.Sprintf("container %q in pod %q is not available", r.PathValue("container"), r.PathValue("pod"))
		http.Error(w, message, http.StatusBadRequest)
		return
	}
	read := logs.Options{Tail: options.TailLines, Timestamps: options.Timestamps, Since: since(options)}
	if options.LimitBytes != nil {
		read.LimitBytes = *options.LimitBytes
	}
	if options.Follow {
		read.Ended = ended
	}
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusOK)
	_, _ = flushing{w}.Write(nil) // who follows a log that is silent so far need not wait to know that there is one
	if err := logs.Copy(r.Context(), flushing{w}, n.engine.LogPath(c), read); err != nil && r.Context().Err() == nil {
		n.cfg.Log.Warn("cannot send log", "container", c.ID(), "error", err)
	}
}

// flushing sends everything at once.
type flushing struct{ w http.ResponseWriter }

// Write implements io.Writer.
func (f flushing) Write(data []byte) (int, error) {
	n, err := f.w.Write(data)
	if flusher, ok := f.w.(http.Flusher); ok {
		flusher.Flush()
	}
	return n, err
}

func since(o corev1.PodLogOptions) time.Time {
	switch {
	case o.SinceTime != nil:
		return o.SinceTime.Time
	case o.SinceSeconds != nil:
		return time.Now().Add(-time.Duration(*o.SinceSeconds) * time.Second)
	}
	return time.Time{}
}

func logOptions(q url.Values) (corev1.PodLogOptions, error) {
	var o corev1.PodLogOptions
	var errs []error
	number := func(name string, least int64) *int64 {
		if q.Get(name) == "" {
			return nil
		}
		value, err := strconv.ParseInt(q.Get(name), 10, 64)
		if err != nil || value < least {
			errs = append(errs, fmt.Errorf("%s=%q is not a number of at least %d", name, q.Get(name), least))
		}
		return &value
	}
	flag := func(name string) bool { return q.Get(name) == "true" || q.Get(name) == "1" }
	o.Follow, o.Previous, o.Timestamps = flag("follow"), flag("previous"), flag("timestamps")
	o.TailLines, o.LimitBytes, o.SinceSeconds = number("tailLines", 0), number("limitBytes", 1), number("sinceSeconds", 1)
	if text := q.Get("sinceTime"); text != "" {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			errs = append(errs, fmt.Errorf("sinceTime: %w", err))
		}
		o.SinceTime = &metav1.Time{Time: at}
	}
	return o, errors.Join(errs...)
}

// exec implements virtual-kubelet's api.ContainerExecHandlerFunc.
func (n *Node) exec(ctx context.Context, namespace, name, container string, command []string, attach vkapi.AttachIO) error {
	running := n.provider.byName(namespace, name)
	if running == nil {
		return errdefs.NotFoundf("pod %s/%s is not on this node", namespace, name)
	}
	c, err := running.Running(container)
	if err != nil {
		return errdefs.NotFoundf("container %q of pod %s/%s is not running", container, namespace, name)
	}
	streams := engine.Streams{Stdin: attach.Stdin(), Terminal: attach.TTY()}
	if out := attach.Stdout(); out != nil {
		streams.Stdout = out
	}
	if out := attach.Stderr(); out != nil {
		streams.Stderr = out
	}
	if streams.Terminal {
		sizes := make(chan ociruntime.Size)
		streams.Resize = sizes
		go passSizes(ctx, attach.Resize(), sizes)
	}
	return n.engine.Exec(ctx, c, command, streams)
}

func passSizes(ctx context.Context, from <-chan vkapi.TermSize, to chan<- ociruntime.Size) {
	for {
		select {
		case <-ctx.Done():
			return
		case size, ok := <-from:
			if !ok {
				return
			}
			select {
			case to <- ociruntime.Size{Width: size.Width, Height: size.Height}:
			case <-ctx.Done():
				return
			}
		}
	}
}

// forward implements virtual-kubelet's api.PortForwardHandlerFunc.
func (n *Node) forward(ctx context.Context, namespace, name string, port int32, stream io.ReadWriteCloser) error {
	running := n.provider.byName(namespace, name)
	if running == nil {
		return errdefs.NotFoundf("pod %s/%s is not on this node", namespace, name)
	}
	netns, err := running.NetNS()
	if err != nil {
		return err
	}
	conn, err := sandbox.Dial(ctx, netns, port)
	if err != nil {
		return err
	}
	defer conn.Close()
	done := make(chan error, 2)
	go func() { _, err := io.Copy(conn, stream); done <- err }()
	go func() { _, err := io.Copy(stream, conn); done <- err }()
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	return err
}
