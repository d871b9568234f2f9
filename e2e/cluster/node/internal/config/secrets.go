package config

import (
	"path/filepath"

	"sandglass.dev/e2e/cluster/node/internal/layout"
	"sandglass.dev/e2e/cluster/node/internal/pki"
)

// servers are the certificates that are shown to clients.
var servers = map[string]pki.Subject{
	"kube-apiserver": {Name: "kube-apiserver", Hosts: []string{
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
		"localhost", "127.0.0.1", layout.NodeName, layout.NodeAddress, layout.APIService,
	}},
	"kubelet": {Name: "system:node:" + layout.NodeName, Groups: []string{"system:nodes"}, Hosts: []string{
		layout.NodeName, layout.NodeAddress,
	}},
}

// clients each get a kubeconfig.
var clients = map[string]pki.Subject{
	"admin":                   {Name: "cluster-admin", Groups: []string{"system:masters"}},
	"kube-controller-manager": {Name: "system:kube-controller-manager"},
	"kube-scheduler":          {Name: "system:kube-scheduler"},
	"kube-proxy":              {Name: "system:kube-proxy"},
	"kubelet":                 {Name: "system:node:" + layout.NodeName, Groups: []string{"system:nodes"}},
}

func writeSecrets() error {
	authority, err := pki.NewAuthority(layout.Name)
	if err != nil {
		return err
	}
	if err := authority.Save("ca"); err != nil {
		return err
	}
	for name, subject := range servers {
		if err := issue(authority, subject, name); err != nil {
			return err
		}
	}
	for name, subject := range clients {
		if err := writeKubeconfig(authority, name, subject); err != nil {
			return err
		}
	}
	toKubelet := pki.Subject{Name: "kube-apiserver-kubelet-client", Groups: []string{"system:masters"}}
	if err := issue(authority, toKubelet, "kubelet-client"); err != nil {
		return err
	}
	if err := writeFrontProxy(); err != nil {
		return err
	}
	return writeTokenKey()
}

// writeFrontProxy makes what aggregated API servers trust. The authority must
// be another one: its clients may claim to be anybody.
func writeFrontProxy() error {
	authority, err := pki.NewAuthority(layout.Name + "-front-proxy")
	if err != nil {
		return err
	}
	if err := authority.Save("front-proxy-ca"); err != nil {
		return err
	}
	return issue(authority, pki.Subject{Name: "front-proxy-client"}, "front-proxy-client")
}

func writeTokenKey() error {
	public, private, err := pki.NewTokenKey()
	if err != nil {
		return err
	}
	path := filepath.Join(layout.PKI, "service-account")
	if err := layout.Write(path+".pub", public, 0o644); err != nil {
		return err
	}
	return layout.Write(path+".key", private, 0o600)
}

func issue(authority pki.Authority, subject pki.Subject, name string) error {
	pair, err := authority.Issue(subject)
	if err != nil {
		return err
	}
	return pair.Save(name)
}

func writeKubeconfig(authority pki.Authority, name string, subject pki.Subject) error {
	pair, err := authority.Issue(subject)
	if err != nil {
		return err
	}
	content, err := render("kubeconfig.yaml", map[string]any{
		"Cluster": layout.Name, "Server": layout.APIServer, "User": subject.Name,
		"Authority": authority.Certificate, "Certificate": pair.Certificate, "Key": pair.Key,
	})
	if err != nil {
		return err
	}
	path := filepath.Join(layout.Config, name+".kubeconfig")
	if name == "admin" {
		path = layout.Kubeconfig
	}
	return layout.Write(path, content, 0o600)
}
