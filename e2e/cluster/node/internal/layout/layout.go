// Package layout is the one place for the names, addresses and paths of the
// cluster. There is one cluster to a machine, so all of them are fixed.
package layout

import (
	"os"
	"path/filepath"
)

const (
	// Name marks everything of ours that others can see: cgroups, firewall rules.
	Name = "sandglass-cluster"
	// NodeName is the Node object's name and the host name inside.
	NodeName = "sandglass"

	// HostDevice is the machine's end of the cable into the node.
	HostDevice = "sandglass0"
	// NodeDevice is the node's end of it.
	NodeDevice = "eth0"
	// HostAddress is the machine's address as the node sees it.
	HostAddress = "10.200.0.1"
	// NodeAddress is where the API server and the node ports are.
	NodeAddress = "10.200.0.2"
	// NodeNetwork holds both.
	NodeNetwork = "10.200.0.0/24"
	// PodNetwork is so large that no pod inherits the address of a finished one.
	PodNetwork = "10.244.0.0/16"
	// ServiceNetwork holds the cluster IPs.
	ServiceNetwork = "10.96.0.0/16"
	// APIService is the cluster IP of the Service "kubernetes".
	APIService = "10.96.0.1"
	// DNSService is the cluster IP of the Service "kube-dns".
	DNSService = "10.96.0.10"
	// APIServer is the address clients use.
	APIServer = "https://" + NodeAddress + ":6443"

	// ContainerdSocket exists only inside the node, as all of its /run.
	ContainerdSocket = "/run/containerd/containerd.sock"
	// GateSocket is where the policy engine learns of a pod's address before the pod starts.
	GateSocket = "/run/pod-gate.sock"
	// GatePlugin is the name under which this program acts as a CNI plugin.
	GatePlugin = "pod-gate"
	// PauseImage keeps a pod's namespaces.
	PauseImage = "localhost/pause:cluster"
)

// State is the folder that holds everything a running cluster writes.
const State = "/var/lib/sandglass-cluster"

// HostRecord tells what of the machine's settings was changed. It lives as long
// as they do, until the machine starts again, and does not go with the state
// folder when somebody removes that from under a cluster.
const HostRecord = "/run/sandglass-cluster.json"

// Paths in the state folder. Only Logs and Lock outlive the cluster.
var (
	Lock       = in("lock")
	Logs       = in("logs")
	Record     = in("init.json")
	Kubeconfig = in("kubeconfig")
	PKI        = in("pki")
	Config     = in("config")
	Pids       = in("pids")
	Temporary  = in("tmp")
	Resolver   = in("config", "resolv.conf")
	Programs   = in("programs")
	Images     = in("images")
	Volumes    = in("volumes")
	Blobs      = in("containerd", "io.containerd.content.v1.content", "blobs", "sha256")
)

// Shadowed are the places that the kubelet, the container runtime and the CNI
// library write to whatever they are told. Inside the node each is a folder
// of the state.
var Shadowed = map[string]string{
	"/var/log":         in("var-log"),
	"/var/lib/kubelet": in("kubelet"),
	"/var/lib/cni":     in("cni"),
}

func in(parts ...string) string {
	return filepath.Join(append([]string{State}, parts...)...)
}

// Program is the path of one of the node's programs as this cluster runs it.
func Program(name string) string { return filepath.Join(Programs, name) }

// Log is the path of a process's log.
func Log(process string) string { return filepath.Join(Logs, process+".log") }

// Write puts a file in place as a whole, so that no reader sees half of it.
func Write(path string, content []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	half := path + ".half"
	if err := os.WriteFile(half, content, mode); err != nil {
		return err
	}
	return os.Rename(half, path)
}
