// Package kube asks the API server the few things the node program has to know.
package kube

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"sandglass.dev/e2e/cluster/node/internal/layout"
)

// Client reads from the API server with full rights.
type Client struct {
	http *http.Client
}

// NewClient takes the certificates from the state folder.
func NewClient() (*Client, error) {
	authority, err := os.ReadFile(filepath.Join(layout.PKI, "ca.crt"))
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	own, err := tls.LoadX509KeyPair(filepath.Join(layout.PKI, "kubelet-client.crt"), filepath.Join(layout.PKI, "kubelet-client.key"))
	if err != nil {
		return nil, err
	}
	return &Client{http: &http.Client{
		Timeout: 2 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: trusted, Certificates: []tls.Certificate{own}},
		},
	}}, nil
}

// Ready tells whether the API server has all its start-up work behind it.
func (c *Client) Ready() error {
	_, err := c.get("/readyz")
	return err
}

// NodeReady tells whether the node takes pods.
func (c *Client) NodeReady() error {
	var node struct {
		Spec   struct{ Taints []struct{ Key string } }
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if err := c.read("/api/v1/nodes/"+layout.NodeName, &node); err != nil {
		return err
	}
	if len(node.Spec.Taints) > 0 {
		return fmt.Errorf("node has the taint %s", node.Spec.Taints[0].Key)
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == "Ready" && condition.Status == "True" {
			return nil
		}
		if condition.Type == "Ready" {
			return errors.New(condition.Message)
		}
	}
	return errors.New("node has no condition Ready yet")
}

// DNSReady tells whether a replica of the cluster's DNS server answers.
func (c *Client) DNSReady() error {
	var deployment struct {
		Status struct{ ReadyReplicas int }
	}
	if err := c.read("/apis/apps/v1/namespaces/kube-system/deployments/coredns", &deployment); err != nil {
		return err
	}
	if deployment.Status.ReadyReplicas == 0 {
		return errors.New("deployment coredns has no ready replica")
	}
	return nil
}

// TakesPods tells whether the default namespace has the service account
// without which the API server refuses every pod.
func (c *Client) TakesPods() error {
	_, err := c.get("/api/v1/namespaces/default/serviceaccounts/default")
	return err
}

func (c *Client) read(path string, into any) error {
	body, err := c.get(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

func (c *Client) get(path string) ([]byte, error) {
	response, err := c.http.Get(layout.APIServer + path)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // all of it was read
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, response.Status)
	}
	return body, err
}
