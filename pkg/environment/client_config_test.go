// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

const kubeconfig = `
apiVersion: v1
kind: Config
current-context: one
clusters:
- name: one
  cluster: {server: "https://one.example.com"}
- name: two
  cluster: {server: "https://two.example.com"}
contexts:
- name: one
  context: {cluster: one}
`

func TestGetRESTConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		reason    string
		args      []string
		env       map[string]string
		wantHost  string
		wantQPS   float32
		wantBurst int
	}{
		"File":    {"the current context", []string{"-kubeconfig", file}, nil, "https://one.example.com", -1, 0},
		"Env":     {"the file may come from the environment", nil, map[string]string{"KUBECONFIG": file}, "https://one.example.com", -1, 0},
		"Cluster": {"another cluster of the file", []string{"-kubeconfig", file, "-cluster", "two"}, nil, "https://two.example.com", -1, 0},
		"Server":  {"the address alone", []string{"-kubeconfig", file, "-server", "https://three.example.com"}, nil, "https://three.example.com", -1, 0},
		"QPS":     {"a limit has a burst", []string{"-kubeconfig", file, "-kube-api-qps", "10"}, nil, "https://one.example.com", 10, 20},
		"EnvQPS":  {"limits may come from the environment", []string{"-kubeconfig", file}, map[string]string{"KUBE_API_QPS": "10", "KUBE_API_BURST": "30"}, "https://one.example.com", 10, 30},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for key, value := range tc.env {
				t.Setenv(key, value)
			}
			c := &ClientConfig{}
			fs := flag.NewFlagSet("test", flag.ContinueOnError)
			c.InitFlags(fs)
			if err := fs.Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			cfg, err := c.GetRESTConfig()
			if err != nil {
				t.Fatalf("GetRESTConfig: %v", err)
			}
			if cfg.Host != tc.wantHost || cfg.QPS != tc.wantQPS || cfg.Burst != tc.wantBurst {
				t.Errorf("%s: got %s, QPS %v, burst %v", tc.reason, cfg.Host, cfg.QPS, cfg.Burst)
			}
		})
	}
}

func TestNoKubeconfig(t *testing.T) {
	c := &ClientConfig{Kubeconfig: filepath.Join(t.TempDir(), "missing")}
	if _, err := c.GetRESTConfig(); err == nil {
		t.Error("a file that does not exist is no configuration")
	}
}
