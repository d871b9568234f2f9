// Package cluster starts, checks and ends the node from the machine's side.
package cluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"sandglass.dev/e2e/cluster/node/internal/cgroup"
	"sandglass.dev/e2e/cluster/node/internal/config"
	"sandglass.dev/e2e/cluster/node/internal/inside"
	"sandglass.dev/e2e/cluster/node/internal/layout"
	"sandglass.dev/e2e/cluster/node/internal/network"
	"sandglass.dev/e2e/cluster/node/internal/process"
)

// Build says what to start.
type Build struct {
	// Programs is the folder with the node's programs and images.
	Programs string
	// Key differs whenever programs, images or this program do.
	Key string
}

// Up makes sure that a healthy cluster of this build runs. One that runs
// already is only checked.
func Up(build Build, out io.Writer) error {
	return locked(out, func() error {
		say := newProgress(out)
		if usable(build, say) {
			return nil
		}
		if err := clean(); err != nil {
			return fmt.Errorf("clean up what an earlier cluster left: %w", err)
		}
		if err := start(build, say); err != nil {
			return errors.Join(err, clean())
		}
		if err := becomeReady(startLimit, say); err != nil {
			return errors.Join(err, clean())
		}
		return nil
	})
}

// usable tells whether the running cluster, if there is one, is as asked for.
// One whose start was cut short gets the chance to finish.
func usable(build Build, say *progress) bool {
	found, known := current()
	if !known || !found.Alive() {
		return false
	}
	if found.Build != build.Key {
		say.line("the running cluster is of another build and is replaced")
		return false
	}
	if err := becomeReady(checkLimit, say); err != nil {
		say.line("the running cluster is not healthy and is replaced: %v", err)
		return false
	}
	return true
}

func start(build Build, say *progress) error {
	if err := network.CheckFree(); err != nil {
		return err
	}
	uplink, err := network.FindUplink()
	if err != nil {
		return err
	}
	if err := prepareState(build, uplink); err != nil {
		return err
	}
	say.line("certificates and configuration written")
	id, err := spawn(build, uplink)
	if err != nil {
		return err
	}
	say.line("node started as process %d, in namespaces of its own", id.PID)
	return nil
}

func prepareState(build Build, uplink network.Uplink) error {
	if err := os.RemoveAll(layout.Logs); err != nil {
		return err
	}
	for _, folder := range []string{layout.Logs, layout.Temporary, layout.Volumes, layout.Pids} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	if err := makePlaces(); err != nil {
		return err
	}
	if err := os.Symlink(build.Programs, layout.Programs); err != nil {
		return err
	}
	return config.Write(uplink.MTU)
}

// spawn starts the node's first process. It waits at the pipe until it is in
// its cgroups, has a record and is connected, and ends if we do before that:
// nothing of the node ever runs that cannot be found again.
func spawn(build Build, uplink network.Uplink) (process.ID, error) {
	hold, release, err := os.Pipe()
	if err != nil {
		return process.ID{}, err
	}
	defer release.Close() //nolint:errcheck // closing is all that matters
	id, err := spawnInit(hold)
	hold.Close() //nolint:errcheck // the child has its own
	if err != nil {
		return process.ID{}, err
	}
	if err := cgroup.Create(id.PID); err != nil {
		return id, err
	}
	if err := (record{ID: id, Build: build.Key}).save(); err != nil {
		return id, err
	}
	if err := network.Connect(id.PID, uplink); err != nil {
		return id, err
	}
	_, err = io.WriteString(release, inside.Ready)
	return id, err
}

func spawnInit(hold *os.File) (process.ID, error) {
	self, err := os.Executable()
	if err != nil {
		return process.ID{}, err
	}
	output, err := os.Create(filepath.Join(layout.Logs, "init.log"))
	if err != nil {
		return process.ID{}, err
	}
	defer output.Close() //nolint:errcheck // the child has its own
	command := exec.Command(self, "init")
	command.Dir = "/"
	command.Stdin, command.Stdout, command.Stderr = hold, output, output
	command.SysProcAttr = &syscall.SysProcAttr{
		Setsid: true,
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
			syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
	}
	if err := command.Start(); err != nil {
		return process.ID{}, fmt.Errorf("start the node in namespaces of its own: %w", err)
	}
	// Collects it if it ends while we still run.
	go command.Wait() //nolint:errcheck // what it has to say is in its log
	return process.Of(command.Process.Pid)
}
