package cluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"sandglass.dev/e2e/cluster/node/internal/cgroup"
	"sandglass.dev/e2e/cluster/node/internal/layout"
	"sandglass.dev/e2e/cluster/node/internal/network"
	"sandglass.dev/e2e/cluster/node/internal/process"
)

// endLimit is how long the kernel may take to end everything in the node.
const endLimit = 30 * time.Second

// Down ends the cluster and fails if anything of it is left.
func Down(say io.Writer) error {
	return locked(say, func() error {
		return errors.Join(clean(), Verify())
	})
}

// clean ends the cluster, or what is left of one, in whatever state it is. It
// goes on after a failure, so that as much as possible is gone.
func clean() error {
	found, known := current()
	var failed []error
	if known {
		failed = append(failed, found.Kill(endLimit))
	}
	failed = append(failed, endStrays(), unmount(), network.Disconnect(), cgroup.Remove(endLimit),
		removePlaces(), clearState())
	return errors.Join(failed...)
}

// endStrays ends what is in our cgroups though no record names it, as after
// somebody removed the state folder of a running cluster.
func endStrays() error {
	return process.Until(endLimit, "our processes to end", func() error {
		strays := cgroup.Processes()
		if len(strays) == 0 {
			return nil
		}
		failed := []error{fmt.Errorf("processes left: %v", strays)}
		for _, pid := range strays {
			if id, err := process.Of(pid); err == nil && slices.Contains(cgroup.Processes(), pid) {
				failed = append(failed, id.Kill(endLimit))
			}
		}
		return errors.Join(failed...)
	})
}

// unmount takes off what is mounted in the state folder on the machine's side.
// The node's own mounts end with it; these would be from somewhere else, but
// removing files through them would hit what is mounted.
func unmount() error {
	var failed []error
	for _, place := range mounts() {
		if err := syscall.Unmount(place, syscall.MNT_DETACH); err != nil {
			failed = append(failed, fmt.Errorf("unmount %s: %w", place, err))
		}
	}
	return errors.Join(failed...)
}

// mounts lists those in the state folder, the innermost first.
func mounts() []string {
	var found []string
	content, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		if len(fields) > 4 && strings.HasPrefix(fields[4], layout.State+"/") {
			found = append(found, fields[4])
		}
	}
	slices.Reverse(found)
	return found
}

// clearState empties the state folder except for the lock, which we hold, and
// the logs, which tell afterwards why something failed.
func clearState() error {
	keep := []string{layout.Lock, layout.Logs}
	entries, err := os.ReadDir(layout.State)
	failed := []error{err}
	for _, entry := range entries {
		path := filepath.Join(layout.State, entry.Name())
		if !slices.Contains(keep, path) {
			failed = append(failed, os.RemoveAll(path))
		}
	}
	return errors.Join(failed...)
}

// Verify fails if anything of a cluster is on the machine.
func Verify() error {
	left, err := network.Left()
	if err != nil {
		return err
	}
	if found, known := current(); known && found.Alive() {
		left = append(left, fmt.Sprintf("process %d", found.PID))
	}
	for _, pid := range cgroup.Processes() {
		left = append(left, fmt.Sprintf("process %d", pid))
	}
	for _, place := range mounts() {
		left = append(left, "mount "+place)
	}
	for _, group := range cgroup.Groups() {
		left = append(left, "cgroup "+group)
	}
	for _, place := range madePlaces() {
		left = append(left, "folder "+place)
	}
	if len(left) > 0 {
		return fmt.Errorf("the cluster left something behind:\n  %s", strings.Join(left, "\n  "))
	}
	return nil
}
