// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sharedmain

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"
)

// apiServer answers what a component asks at its start: the version, the
// ConfigMaps of a namespace, and lists of Services that are empty.
type apiServer struct {
	*httptest.Server
	version    string
	configMaps map[string]*corev1.ConfigMap

	mu      sync.Mutex
	watched []string
}

func newAPIServer(t *testing.T, cms ...*corev1.ConfigMap) *apiServer {
	s := &apiServer{version: "v1.37.2", configMaps: map[string]*corev1.ConfigMap{}}
	for _, cm := range cms {
		cm.Namespace, cm.ResourceVersion = "system", "1"
		cm.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
		s.configMaps[cm.Name] = cm
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, version.Info{GitVersion: s.version})
	})
	mux.HandleFunc("GET /api/v1/namespaces/system/configmaps/{name}", s.getConfigMap)
	mux.HandleFunc("GET /api/v1/namespaces/system/configmaps", s.listConfigMaps)
	mux.HandleFunc("GET /api/v1/services", s.listServices)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *apiServer) config() *rest.Config { return &rest.Config{Host: s.URL} }

func (s *apiServer) watches() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.watched)
	return slices.Compact(s.watched)
}

func (s *apiServer) getConfigMap(w http.ResponseWriter, r *http.Request) {
	cm, ok := s.configMaps[r.PathValue("name")]
	if !ok {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		reply(w, metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status:   metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound,
		})
		return
	}
	reply(w, cm)
}

func (s *apiServer) listConfigMaps(w http.ResponseWriter, r *http.Request) {
	list := &corev1.ConfigMapList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}}
	list.ResourceVersion = "1"
	for _, cm := range s.configMaps {
		list.Items = append(list.Items, *cm)
	}
	s.list(w, r, "configmaps", list)
}

func (s *apiServer) listServices(w http.ResponseWriter, r *http.Request) {
	list := &corev1.ServiceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceList"}}
	list.ResourceVersion = "1"
	s.list(w, r, "services", list)
}

// list answers lists, refuses streaming lists, and lets plain watches hang.
func (s *apiServer) list(w http.ResponseWriter, r *http.Request, resource string, list any) {
	switch {
	case r.FormValue("sendInitialEvents") != "":
		http.Error(w, "streaming lists are not served", http.StatusUnprocessableEntity)
	case r.FormValue("watch") != "":
		s.mu.Lock()
		s.watched = append(s.watched, resource)
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	default:
		reply(w, list)
	}
}

func reply(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}
