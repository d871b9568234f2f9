// Package gate is the last CNI plugin of the chain. It tells the policy engine
// whose an address is and lets the pod start only when the engine knows: else
// a pod's first packets would be judged as a stranger's.
package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"sandglass.dev/e2e/cluster/node/internal/layout"
)

// answerLimit is longer than the engine takes to refuse.
const answerLimit = 10 * time.Second

// configuration is the part of what a CNI plugin reads that matters here.
type configuration struct {
	CNIVersion string          `json:"cniVersion"`
	PrevResult json.RawMessage `json:"prevResult"`
}

type result struct {
	IPs []struct {
		Address string `json:"address"`
	} `json:"ips"`
}

// report is what the engine is sent.
type report struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Addresses []string `json:"addresses"`
}

// Plugin does one CNI call: command and pod come from the environment, the
// rest from the input. It hands on the result of the plugins before it.
func Plugin(in io.Reader, out io.Writer) error {
	switch command := os.Getenv("CNI_COMMAND"); command {
	case "VERSION":
		return json.NewEncoder(out).Encode(map[string]any{"cniVersion": "1.0.0", "supportedVersions": []string{"1.0.0"}})
	case "ADD", "DEL", "CHECK":
		err := call(command, in, out)
		if err != nil {
			// The runtime shows only what is in this form.
			_ = json.NewEncoder(out).Encode(map[string]any{"cniVersion": "1.0.0", "code": 999, "msg": err.Error()})
		}
		return err
	default:
		return fmt.Errorf("CNI command %q is not known", command)
	}
}

func call(command string, in io.Reader, out io.Writer) error {
	var given configuration
	if err := json.NewDecoder(in).Decode(&given); err != nil {
		return err
	}
	pod, err := describe(given.PrevResult)
	if err != nil {
		return err
	}
	switch command {
	case "ADD":
		if err := send(http.MethodPut, pod); err != nil {
			return err
		}
		_, err := out.Write(given.PrevResult)
		return err
	case "DEL":
		// Without an engine there is nobody who could remember the address.
		_ = send(http.MethodDelete, pod)
	}
	return nil
}

func describe(previous json.RawMessage) (report, error) {
	var before result
	if len(previous) > 0 {
		if err := json.Unmarshal(previous, &before); err != nil {
			return report{}, err
		}
	}
	var pod report
	for argument := range strings.SplitSeq(os.Getenv("CNI_ARGS"), ";") {
		switch name, value, _ := strings.Cut(argument, "="); name {
		case "K8S_POD_NAMESPACE":
			pod.Namespace = value
		case "K8S_POD_NAME":
			pod.Name = value
		}
	}
	for _, ip := range before.IPs {
		address, _, _ := strings.Cut(ip.Address, "/")
		pod.Addresses = append(pod.Addresses, address)
	}
	return pod, nil
}

func send(method string, pod report) error {
	body, err := json.Marshal(pod)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(method, "http://engine/pods", bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := engine.Do(request)
	if err != nil {
		return fmt.Errorf("the policy engine does not answer: %w", err)
	}
	defer response.Body.Close() //nolint:errcheck // all of it is read
	said, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("the policy engine refuses pod %s/%s: %s", pod.Namespace, pod.Name, said)
	}
	return err
}

var engine = http.Client{
	Timeout: answerLimit,
	Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", layout.GateSocket)
		},
	},
}
