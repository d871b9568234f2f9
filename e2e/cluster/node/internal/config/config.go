// Package config writes the certificates and configuration files that the
// node's processes read.
package config

import (
	"bytes"
	"embed"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"text/template"

	"sandglass.dev/e2e/cluster/node/internal/layout"
)

//go:embed files
var files embed.FS

// debianPlugins is where Debian's package puts the CNI plugins.
const debianPlugins = "/usr/lib/cni"

// Files are the configuration files as services name them.
var Files = struct{ Containerd, Kubelet, KubeProxy, Network, Rules, Manifests string }{
	Containerd: "containerd.toml",
	Kubelet:    "kubelet.yaml",
	KubeProxy:  "kube-proxy.yaml",
	Network:    "cni/10-pods.conflist",
	Rules:      "rules.iptables",
	Manifests:  "manifests.yaml",
}

// Path is where a configuration file is written.
func Path(file string) string { return filepath.Join(layout.Config, file) }

// Write makes everything the node needs to start. The mtu is that of the
// machine's way out: larger packets of pods would get lost there.
func Write(mtu int) error {
	if err := writeSecrets(); err != nil {
		return fmt.Errorf("certificates: %w", err)
	}
	values := map[string]any{
		"State": layout.State, "PKI": layout.PKI, "Config": layout.Config, "Resolver": layout.Resolver,
		"Name": layout.Name, "NodeName": layout.NodeName, "NodeAddress": layout.NodeAddress, "NodeDevice": layout.NodeDevice,
		"PodNetwork": layout.PodNetwork, "DNSService": layout.DNSService, "HostAddress": layout.HostAddress,
		"Containerd": layout.ContainerdSocket, "PauseImage": layout.PauseImage, "GatePlugin": layout.GatePlugin,
		"Plugins": pluginDir, "Queue": Queue, "MTU": mtu,
	}
	for _, file := range []string{Files.Containerd, Files.Kubelet, Files.KubeProxy, Files.Network, Files.Rules, Files.Manifests} {
		content, err := render(filepath.Base(file), values)
		if err != nil {
			return err
		}
		if err := layout.Write(Path(file), content, 0o644); err != nil {
			return err
		}
	}
	if err := linkPlugins(); err != nil {
		return err
	}
	return copyResolver()
}

// Queue is the netfilter queue in which the policy engine finds new connections.
const Queue = 100

var pluginDir = filepath.Join(layout.State, "plugins")

// linkPlugins puts Debian's plugins and our own into one folder, since the
// container runtime looks into only one.
func linkPlugins() error {
	if err := os.MkdirAll(pluginDir, 0o755); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	links := map[string]string{layout.GatePlugin: self}
	for _, name := range []string{"ptp", "host-local", "loopback"} {
		links[name] = filepath.Join(debianPlugins, name)
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(pluginDir, name)); err != nil {
			return err
		}
	}
	return nil
}

// copyResolver keeps the machine's resolver file where the node sees it: the
// original may be a link into /run, which the node has of its own.
func copyResolver() error {
	content, err := os.ReadFile("/etc/resolv.conf")
	if err != nil {
		return err
	}
	return layout.Write(layout.Resolver, content, 0o644)
}

func render(name string, values map[string]any) ([]byte, error) {
	functions := template.FuncMap{"base64": base64.StdEncoding.EncodeToString}
	parsed, err := template.New(name).Funcs(functions).Option("missingkey=error").ParseFS(files, "files/"+name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, values)
	return out.Bytes(), err
}
