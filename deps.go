//go:build deps

package deps

import (
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/go-containerregistry/pkg/registry"
	_ "github.com/google/go-containerregistry/pkg/v1/layout"
	_ "github.com/google/go-containerregistry/pkg/v1/remote"
	_ "github.com/google/uuid"
	_ "github.com/coder/websocket"
	_ "github.com/prometheus/client_golang/prometheus"
	_ "github.com/spf13/cobra"
	_ "go.uber.org/goleak"
	_ "go.uber.org/zap"
	_ "golang.org/x/net/http2/h2c"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/time/rate"
	_ "google.golang.org/grpc"
	_ "google.golang.org/protobuf/proto"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	_ "k8s.io/apimachinery/pkg/api/equality"
	_ "k8s.io/client-go/kubernetes/fake"
	_ "k8s.io/client-go/dynamic"
	_ "sigs.k8s.io/yaml"
	_ "k8s.io/utils/ptr"
	_ "go.yaml.in/yaml/v3"
	_ "golang.org/x/tools/go/packages"
	_ "golang.org/x/tools/txtar"
	_ "gomodules.xyz/jsonpatch/v2"
)
