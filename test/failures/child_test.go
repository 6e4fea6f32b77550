// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/zap"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"weir.dev/pkg/apis"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection/sharedmain"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/reconciler"
)

// The environment of a replica: this test binary, run again as a process that
// can be killed.
const (
	childEnv      = "FAILURES_REPLICA" // its name; makes the binary a replica
	kubeconfigEnv = "FAILURES_KUBECONFIG"
	namespaceEnv  = "FAILURES_NAMESPACE"
	witnessEnv    = "FAILURES_WITNESS" // the URL that hears what it does
)

// output is what several processes print.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// childMain is a replica's main function.
func childMain(stderr io.Writer) int {
	cfg, err := clientcmd.BuildConfigFromFlags("", os.Getenv(kubeconfigEnv))
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	logger := zap.NewNop().Sugar()
	ctx := logging.WithLogger(scoped(context.Background(), os.Getenv(namespaceEnv)), logger)
	r := reporter{name: os.Getenv(childEnv), witness: os.Getenv(witnessEnv)}
	ctor := newThingController(r, func(*controller.Impl) controller.Options {
		return controller.Options{Concurrency: 4, PromoteFunc: func(reconciler.Bucket) { _ = r.tell(ctx, "lead", &Thing{}) }}
	})
	if err := sharedmain.Run(ctx, "failures", cfg, ctor); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// reporter reconciles things and tells a witness what it does with them.
type reporter struct{ name, witness string }

// ReconcileKind copies the value.
func (reporter) ReconcileKind(_ context.Context, o *Thing) reconciler.Event {
	o.Status.Value = o.Spec.Value
	o.GetConditionSet().Manage(o.GetStatus()).MarkTrue(apis.ConditionReady)
	return nil
}

// FinalizeKind takes as long as the witness takes to answer.
func (r reporter) FinalizeKind(ctx context.Context, o *Thing) reconciler.Event {
	if err := r.tell(ctx, "begin", o); err != nil {
		return err
	}
	return r.tell(ctx, "end", o)
}

func (r reporter) tell(ctx context.Context, what string, o *Thing) error {
	query := url.Values{"replica": {r.name}, "uid": {string(o.UID)}, "name": {o.Name}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.witness+"/"+what+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return nil
}

// writeKubeconfig writes the suite's configuration for other processes.
func writeKubeconfig(t *testing.T) string {
	t.Helper()
	cfg := suite.System.Config
	file := filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"c": {
			Server: cfg.Host, CertificateAuthorityData: cfg.CAData, CertificateAuthority: cfg.CAFile,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": {
			Token: cfg.BearerToken, ClientCertificateData: cfg.CertData, ClientKeyData: cfg.KeyData,
			ClientCertificate: cfg.CertFile, ClientKey: cfg.KeyFile,
		}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	}, file)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
