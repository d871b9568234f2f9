package cluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"sandglass.dev/e2e/cluster/node/internal/config"
	"sandglass.dev/e2e/cluster/node/internal/inside"
	"sandglass.dev/e2e/cluster/node/internal/kube"
	"sandglass.dev/e2e/cluster/node/internal/layout"
	"sandglass.dev/e2e/cluster/node/internal/process"
)

const (
	// startLimit is for each step of a start; one takes three seconds in all
	// on an idle machine, so this only ends what will never end.
	startLimit = 90 * time.Second
	// checkLimit is for each step of looking at a cluster that should be ready.
	checkLimit = 15 * time.Second
)

// appliedMark is there when the cluster's own objects have been made.
var appliedMark = filepath.Join(layout.Pids, "manifests-applied")

// step is something that has to be so before the cluster can be used.
type step struct {
	name string
	ask  func() error
}

// steps are in the order in which they come true.
func steps() ([]step, error) {
	client, err := kube.NewClient()
	return []step{
		{"API server ready", client.Ready},
		{"DNS server, StorageClass and RuntimeClasses made", applyManifests},
		{"services of the node run", servicesRun},
		{"NetworkPolicies enforced", policiesEnforced},
		{"node Ready", client.NodeReady},
		{"pods are taken", client.TakesPods},
		{"DNS answers", client.DNSReady},
	}, err
}

// becomeReady waits until the cluster can be used, step by step.
func becomeReady(limit time.Duration, say *progress) error {
	todo, err := steps()
	if err != nil {
		return err
	}
	for _, step := range todo {
		if err := await(limit, step.name, step.ask); err != nil {
			return err
		}
		say.line("%s", step.name)
	}
	return nil
}

// await gives up at once when the node has ended: then nothing can come.
func await(limit time.Duration, what string, ask func() error) error {
	var ended error
	err := process.Until(limit, what, func() error {
		if _, ended = PID(); ended != nil {
			return nil
		}
		return ask()
	})
	if ended != nil {
		return fmt.Errorf("the node ended before: %s\n%s", what, tail(layout.Log("init")))
	}
	if err != nil {
		return fmt.Errorf("%w\nlogs are in %s; the node's own ends with:\n%s", err, layout.Logs, tail(layout.Log("init")))
	}
	return nil
}

// applyManifests runs once in a cluster's life; kubectl makes it repeatable
// should it be cut short.
func applyManifests() error {
	if _, err := os.Stat(appliedMark); err == nil {
		return nil
	}
	out, err := exec.Command(layout.Program("kubectl"), "--kubeconfig", layout.Kubeconfig,
		"apply", "--server-side", "--filename", config.Path(config.Files.Manifests)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("kubectl apply: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return layout.Write(appliedMark, nil, 0o644)
}

// servicesRun looks for each service where the node's own numbers count.
func servicesRun() error {
	first, err := PID()
	if err != nil {
		return err
	}
	var failed []error
	for _, name := range inside.Names() {
		pid, err := os.ReadFile(filepath.Join(layout.Pids, name))
		if err == nil {
			_, err = os.Stat(fmt.Sprintf("/proc/%d/root/proc/%s", first, strings.TrimSpace(string(pid))))
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s does not run: %w", name, err))
		}
	}
	return errors.Join(failed...)
}

// policiesEnforced tells whether the engine listens at its queue. If not, no
// pod can connect to anything.
func policiesEnforced() error {
	first, err := PID()
	if err != nil {
		return err
	}
	queues, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/netfilter/nfnetlink_queue", first))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(queues)) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] == fmt.Sprint(config.Queue) {
			return nil
		}
	}
	return fmt.Errorf("nobody listens at queue %d", config.Queue)
}

func tail(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-10):], "\n  ")
}

// Status says what runs, and fails if the cluster cannot be used.
func Status(out io.Writer) error {
	pid, err := PID()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "node      process %d\napi       %s\nkubeconfig %s\nlogs      %s\n", //nolint:errcheck
		pid, layout.APIServer, layout.Kubeconfig, layout.Logs)
	todo, err := steps()
	if err != nil {
		return err
	}
	var failed []error
	for _, step := range todo {
		if err := step.ask(); err != nil {
			failed = append(failed, fmt.Errorf("not so: %s: %w", step.name, err))
			continue
		}
		fmt.Fprintf(out, "ok        %s\n", step.name) //nolint:errcheck
	}
	return errors.Join(failed...)
}

// progress prints what has been done, each line with the seconds since the start.
type progress struct {
	out   io.Writer
	start time.Time
}

func newProgress(out io.Writer) *progress { return &progress{out: out, start: time.Now()} }

func (p *progress) line(format string, values ...any) {
	fmt.Fprintf(p.out, "[%5.1f s] %s\n", time.Since(p.start).Seconds(), fmt.Sprintf(format, values...)) //nolint:errcheck
}
