package cluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sandglass.dev/e2e/cluster/node/internal/inside"
	"sandglass.dev/e2e/cluster/node/internal/layout"
)

// Restart kills a service of the node as a crash would, and waits until the
// node has started it again and the cluster can be used.
func Restart(service string, out io.Writer) error {
	if !slices.Contains(inside.Names(), service) {
		return fmt.Errorf("the node has no service %q, but %s", service, strings.Join(inside.Names(), ", "))
	}
	return locked(out, func() error {
		first, err := PID()
		if err != nil {
			return err
		}
		former, err := pidInside(service)
		if err != nil {
			return fmt.Errorf("%s does not run: %w", service, err)
		}
		say := newProgress(out)
		if err := killInside(first, former); err != nil {
			return err
		}
		say.line("%s killed", service)
		return restarted(service, former, say)
	})
}

// restarted waits first for the new process: until the node has taken note of
// the end of the former one, everything looks as before.
func restarted(service, former string, say *progress) error {
	err := await(startLimit, service+" to be started again", func() error {
		now, err := pidInside(service)
		if err == nil && now == former {
			err = errors.New("its former process is not collected yet")
		}
		return err
	})
	if err != nil {
		return err
	}
	return becomeReady(startLimit, say)
}

// pidInside is the number of a service's process as the node numbers it.
func pidInside(service string) (string, error) {
	content, err := os.ReadFile(filepath.Join(layout.Pids, service))
	return strings.TrimSpace(string(content)), err
}

// killInside enters the node, since the number means another process outside.
func killInside(first int, pid string) error {
	out, err := exec.Command("nsenter", "--target", fmt.Sprint(first), "--mount", "--pid", "--",
		"sh", "-c", `kill -KILL "$1"`, "sh", pid).CombinedOutput()
	if err != nil {
		return fmt.Errorf("kill process %s of the node: %w: %s", pid, err, strings.TrimSpace(string(out)))
	}
	return nil
}
