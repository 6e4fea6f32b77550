// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	vknode "github.com/virtual-kubelet/virtual-kubelet/node"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

func (n *Node) nodeController(ctx context.Context) (*vknode.NodeController, error) {
	const leaseSeconds, statusInterval = 40, 5 * time.Minute
	controller, err := vknode.NewNodeController(
		vknode.NaiveNodeProvider{}, n.object(ctx), n.cfg.Client.CoreV1().Nodes(),
		vknode.WithNodeEnableLeaseV1(n.cfg.Client.CoordinationV1().Leases(corev1.NamespaceNodeLease), leaseSeconds),
		vknode.WithNodeStatusUpdateInterval(statusInterval),
	)
	if err != nil {
		return nil, fmt.Errorf("prepare node controller: %w", err)
	}
	return controller, nil
}

// object is this machine as a node of the API.
func (n *Node) object(ctx context.Context) *corev1.Node {
	capacity := n.capacity()
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: n.cfg.Name,
			Labels: map[string]string{
				corev1.LabelHostname:   n.cfg.Name,
				corev1.LabelOSStable:   runtime.GOOS,
				corev1.LabelArchStable: runtime.GOARCH,
			},
		},
		Status: corev1.NodeStatus{
			Phase:           corev1.NodeRunning,
			Capacity:        capacity,
			Allocatable:     capacity,
			Conditions:      conditions(),
			Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: n.cfg.NodeIP.String()}},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: n.kubeletPort()}},
			NodeInfo:        n.info(ctx),
		},
	}
}

func conditions() []corev1.NodeCondition {
	now := metav1.Now()
	condition := func(kind corev1.NodeConditionType, st corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: st, Reason: reason, Message: message, LastHeartbeatTime: now, LastTransitionTime: now}
	}
	return []corev1.NodeCondition{
		condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "node agent is posting ready status"),
		condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "node agent has sufficient memory available"),
		condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "node agent has no disk pressure"),
		condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "node agent has sufficient PID available"),
		condition(corev1.NodeNetworkUnavailable, corev1.ConditionFalse, "NetworkReady", "sandboxes get a network"),
	}
}

func (n *Node) kubeletPort() int32 {
	if n.cfg.Kubelet == nil {
		return 0
	}
	_, text, err := net.SplitHostPort(n.cfg.Kubelet.Addr().String())
	if err != nil {
		return 0
	}
	port, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return int32(port)
}

func (n *Node) capacity() corev1.ResourceList {
	list := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(int64(runtime.NumCPU()), resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(memory(), resource.BinarySI),
		corev1.ResourcePods:   *resource.NewQuantity(n.cfg.MaxPods, resource.DecimalSI),
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(n.cfg.DataDir, &disk); err == nil {
		size := int64(disk.Blocks) * disk.Bsize
		list[corev1.ResourceEphemeralStorage] = *resource.NewQuantity(size, resource.BinarySI)
	}
	return list
}

// memory is the machine's memory in bytes, 0 if it cannot be told.
func memory() int64 {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) >= 2 && fields[0] == "MemTotal:" {
			kilobytes, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0
			}
			return kilobytes << 10
		}
	}
	return 0
}

func (n *Node) info(ctx context.Context) corev1.NodeSystemInfo {
	version, err := n.runtime.Version(ctx)
	if err != nil {
		version = "unknown"
	}
	return corev1.NodeSystemInfo{
		MachineID:               firstLine("/etc/machine-id"),
		SystemUUID:              firstLine("/etc/machine-id"),
		BootID:                  firstLine("/proc/sys/kernel/random/boot_id"),
		KernelVersion:           firstLine("/proc/sys/kernel/osrelease"),
		OSImage:                 osImage(),
		ContainerRuntimeVersion: n.runtime.Name() + "://" + version,
		KubeletVersion:          n.cfg.KubernetesVersion,
		OperatingSystem:         runtime.GOOS,
		Architecture:            runtime.GOARCH,
	}
}

func firstLine(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return line
}

func osImage() string {
	data, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if value, found := strings.CutPrefix(line, "PRETTY_NAME="); found {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}

// removeNotReadyTaint removes the taint that admission gives every new node.
// In a cluster a controller of the control plane does it, which is not one of
// the embedded ones.
func (n *Node) removeNotReadyTaint(ctx context.Context) error {
	nodes := n.cfg.Client.CoreV1().Nodes()
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		node, err := nodes.Get(ctx, n.cfg.Name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("read node: %w", err)
		}
		kept := slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeNotReady })
		if len(kept) == len(node.Spec.Taints) {
			return nil
		}
		node.Spec.Taints = kept
		_, err = nodes.Update(ctx, node, metav1.UpdateOptions{})
		return err
	})
}
