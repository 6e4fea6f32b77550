// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package profiling serves profiles of the process to go tool pprof, while an
// operator allows it. Programs link it for their own server of profiles: unlike
// net/http/pprof, which adds its handlers to http.DefaultServeMux as soon as it
// is linked, it publishes nothing elsewhere.
package profiling

import (
	"net/http"
	"sync/atomic"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
)

const (
	// key of the ConfigMap config-observability.
	key = "runtime-profiling"
	// enabled and disabled (the default) are its values.
	enabled  = "enabled"
	disabled = "disabled"
)

// Handler serves profiles below /debug/pprof/ while it is enabled; otherwise
// nothing is found there.
type Handler struct {
	log     *zap.SugaredLogger
	mux     *http.ServeMux
	enabled atomic.Bool
}

var _ http.Handler = (*Handler)(nil)

// NewHandler returns a handler that is enabled or not to begin with.
func NewHandler(logger *zap.SugaredLogger, enableProfiling bool) *Handler {
	h := &Handler{log: logger, mux: newMux()}
	h.enabled.Store(enableProfiling)
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.enabled.Load() {
		http.NotFound(w, r)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// UpdateFromConfigMap enables or disables the handler as the ConfigMap
// config-observability says. A value that is neither changes nothing. It is a
// configmap.Observer.
func (h *Handler) UpdateFromConfigMap(cm *corev1.ConfigMap) {
	var enable bool
	switch value := cm.Data[key]; value {
	case enabled:
		enable = true
	case disabled, "":
	default:
		h.log.Errorw("Keeping profiling as it is: the value is neither enabled nor disabled",
			"configmap", cm.Namespace+"/"+cm.Name, "key", key, "value", value)
		return
	}
	if h.enabled.Swap(enable) != enable {
		h.log.Infow("Profiling was switched", "enabled", enable)
	}
}
