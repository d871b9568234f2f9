// Package cgroup keeps all processes of the cluster in control groups of one
// name. What is in them was started by us, whatever became of our records.
package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sandglass.dev/e2e/cluster/node/internal/layout"
	"sandglass.dev/e2e/cluster/node/internal/process"
)

// nodeGroup holds the node's own processes, beside the kubelet's "kubepods":
// a group with both processes and groups in it is not allowed in version 2.
const nodeGroup = "node"

// mountPoint is where systems mount the hierarchies, or the one of version 2.
const mountPoint = "/sys/fs/cgroup"

// Create makes our group in every hierarchy and puts the process into it.
func Create(pid int) error {
	for _, root := range roots() {
		if err := create(root, pid); err != nil {
			return fmt.Errorf("cgroup in %s: %w", root, err)
		}
	}
	return nil
}

func create(root string, pid int) error {
	ours := filepath.Join(root, layout.Name)
	group := filepath.Join(ours, nodeGroup)
	if err := os.MkdirAll(group, 0o755); err != nil {
		return err
	}
	for _, dir := range []string{ours, group} {
		if err := prepare(dir); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644)
}

// prepare makes a new group usable: in version 1 a cpuset starts empty and
// takes no process, in version 2 controllers have to be handed down.
func prepare(dir string) error {
	parent := filepath.Dir(dir)
	if onlyVersion2() {
		return handDown(parent)
	}
	if _, err := os.Stat(filepath.Join(dir, "cpuset.cpus")); err != nil {
		return nil
	}
	return inherit(dir, parent)
}

func inherit(dir, parent string) error {
	for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
		value, err := os.ReadFile(filepath.Join(parent, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), value, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func handDown(parent string) error {
	controllers, err := os.ReadFile(filepath.Join(parent, "cgroup.controllers"))
	if err != nil {
		return err
	}
	for _, controller := range strings.Fields(string(controllers)) {
		if err := os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte("+"+controller), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// onlyVersion2 tells whether version 2 is all there is. Beside version 1 it
// only holds processes, and its settings are not ours.
func onlyVersion2() bool {
	_, err := os.Stat(filepath.Join(mountPoint, "cgroup.controllers"))
	return err == nil
}

// Processes lists every process in our groups.
func Processes() []int {
	var pids []int
	walk(func(dir string) {
		content, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		for _, line := range strings.Fields(string(content)) {
			if pid, err := strconv.Atoi(line); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
	})
	slices.Sort(pids)
	return slices.Compact(pids)
}

// Groups lists our groups, the deepest first.
func Groups() []string {
	var groups []string
	walk(func(dir string) { groups = append(groups, dir) })
	slices.Reverse(groups)
	return groups
}

// Remove takes all our groups away. The kernel refuses while a process in
// one is still on its way out, hence the limit.
func Remove(limit time.Duration) error {
	return process.Until(limit, "the cgroups to empty", func() error {
		var failed []error
		for _, group := range Groups() {
			if err := os.Remove(group); err != nil && !errors.Is(err, fs.ErrNotExist) {
				failed = append(failed, err)
			}
		}
		return errors.Join(failed...)
	})
}

func walk(visit func(dir string)) {
	for _, root := range roots() {
		_ = filepath.WalkDir(filepath.Join(root, layout.Name), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				visit(path)
			}
			return nil // a group that went away meanwhile is what we want
		})
	}
}

// roots are the mounted hierarchies; links like "cpu,cpuacct" count once.
func roots() []string {
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	var found []string
	for line := range strings.Lines(string(mounts)) {
		before, after, ok := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if ok && len(fields) > 4 && strings.HasPrefix(after, "cgroup") && strings.HasPrefix(fields[4], mountPoint) {
			found = append(found, fields[4])
		}
	}
	return found
}
