package inside

import (
	"fmt"
	"path/filepath"

	"sandglass.dev/e2e/cluster/node/internal/config"
	"sandglass.dev/e2e/cluster/node/internal/layout"
)

// service is a program that runs as long as the node does.
type service struct {
	name string
	// after is what has to be ready before a start is worth it.
	after []condition
	argv  []string
}

// services is the node, in the order in which its parts come up.
func services() []service {
	return []service{
		{"containerd", nil, []string{"containerd", "--config", config.Path(config.Files.Containerd)}},
		{"etcd", nil, etcd()},
		{"kube-apiserver", []condition{etcdAnswers}, apiServer()},
		{"kube-controller-manager", []condition{apiServerReady}, controllerManager()},
		{"kube-scheduler", []condition{apiServerReady}, scheduler()},
		{"network-policies", []condition{apiServerReady}, networkPolicies()},
		{"kubelet", []condition{apiServerReady, imagesLoaded}, kubelet()},
		{"kube-proxy", []condition{apiServerReady}, []string{program("kube-proxy"), "--config=" + config.Path(config.Files.KubeProxy)}},
		{"local-volumes", []condition{apiServerReady}, localVolumes()},
	}
}

// Names lists the services.
func Names() []string {
	var names []string
	for _, s := range services() {
		names = append(names, s.name)
	}
	return names
}

func etcd() []string {
	return []string{
		program("etcd"),
		"--name=" + layout.NodeName,
		"--data-dir=" + filepath.Join(layout.State, "etcd"),
		"--listen-client-urls=" + etcdURL,
		"--advertise-client-urls=" + etcdURL,
		"--listen-peer-urls=http://127.0.0.1:2380",
		// The data does not outlive the node, so it need not survive a power cut.
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
}

func apiServer() []string {
	return []string{
		program("kube-apiserver"),
		"--advertise-address=" + layout.NodeAddress,
		"--etcd-servers=" + etcdURL,
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true",
		"--service-cluster-ip-range=" + layout.ServiceNetwork,
		"--client-ca-file=" + secret("ca.crt"),
		"--tls-cert-file=" + secret("kube-apiserver.crt"),
		"--tls-private-key-file=" + secret("kube-apiserver.key"),
		"--kubelet-certificate-authority=" + secret("ca.crt"),
		"--kubelet-client-certificate=" + secret("kubelet-client.crt"),
		"--kubelet-client-key=" + secret("kubelet-client.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + secret("service-account.pub"),
		"--service-account-signing-key-file=" + secret("service-account.key"),
		"--requestheader-client-ca-file=" + secret("front-proxy-ca.crt"),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + secret("front-proxy-client.crt"),
		"--proxy-client-key-file=" + secret("front-proxy-client.key"),
	}
}

func controllerManager() []string {
	return append(controlPlane("kube-controller-manager"),
		// Each controller first asks for a token of its own; at the usual 20
		// requests a second that alone takes four seconds.
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+secret("service-account.key"),
		"--root-ca-file="+secret("ca.crt"),
		"--cluster-signing-cert-file="+secret("ca.crt"),
		"--cluster-signing-key-file="+secret("ca.key"),
	)
}

func scheduler() []string { return controlPlane("kube-scheduler") }

func controlPlane(name string) []string {
	kubeconfig := filepath.Join(layout.Config, name+".kubeconfig")
	return []string{
		program(name),
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		// There is nobody to share the work with.
		"--leader-elect=false",
	}
}

func kubelet() []string {
	return []string{
		program("kubelet"),
		"--config=" + config.Path(config.Files.Kubelet),
		"--kubeconfig=" + filepath.Join(layout.Config, "kubelet.kubeconfig"),
		"--node-ip=" + layout.NodeAddress,
		"--hostname-override=" + layout.NodeName,
	}
}

func networkPolicies() []string {
	return []string{
		program("network-policies"),
		"--kubeconfig=" + layout.Kubeconfig,
		"--node=" + layout.NodeName,
		"--queue=" + fmt.Sprint(config.Queue),
		"--socket=" + layout.GateSocket,
	}
}

func localVolumes() []string {
	return []string{
		program("local-volumes"),
		"--kubeconfig=" + layout.Kubeconfig,
		"--node=" + layout.NodeName,
		"--volumes=" + layout.Volumes,
	}
}

const (
	etcdAddress = "127.0.0.1:2379"
	etcdURL     = "http://" + etcdAddress
)

func program(name string) string { return layout.Program(name) }

func secret(file string) string { return filepath.Join(layout.PKI, file) }
