package inside

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"sandglass.dev/e2e/cluster/node/internal/layout"
)

// reaper starts processes and collects every one that ends. PID 1 inherits
// the orphans of containers too, so it cannot wait for its own children only,
// and package os/exec, which does, would lose their exit codes.
type reaper struct {
	nothing *os.File
	lock    sync.Mutex
	waiting map[int]chan syscall.WaitStatus
}

func newReaper() (*reaper, error) {
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	r := &reaper{nothing: nothing, waiting: map[int]chan syscall.WaitStatus{}}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	go func() {
		for range ended {
			r.collect()
		}
	}()
	return r, nil
}

// collect takes all that ended, since signals that come close together are one.
func (r *reaper) collect() {
	r.lock.Lock()
	defer r.lock.Unlock()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		if done, ours := r.waiting[pid]; ours {
			done <- status
			delete(r.waiting, pid)
		}
	}
}

// start runs a program with its output in the file. The lock is held over
// fork and entry, so that a process that ends at once is still found.
func (r *reaper) start(argv []string, output *os.File) (int, <-chan syscall.WaitStatus, error) {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return 0, nil, err
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Dir:   "/",
		Env:   environment(),
		Files: []uintptr{r.nothing.Fd(), output.Fd(), output.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, nil, fmt.Errorf("start %s: %w", path, err)
	}
	done := make(chan syscall.WaitStatus, 1)
	r.waiting[pid] = done
	return pid, done, nil
}

// run executes a command to its end.
func (r *reaper) run(argv ...string) error {
	_, done, err := r.start(argv, os.Stderr)
	if err != nil {
		return err
	}
	if status := <-done; status.ExitStatus() != 0 {
		return fmt.Errorf("%s: exit code %d", strings.Join(argv, " "), status.ExitStatus())
	}
	return nil
}

// environment leaves out everything of the shell that called us: a proxy or a
// locale there must not change how the cluster behaves.
func environment() []string {
	return []string{
		"PATH=" + layout.Programs + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/root",
		"TMPDIR=" + layout.Temporary,
		"NODE_NAME=" + layout.NodeName,
		// The whole cluster shares two processors and has memory to spare: at
		// the usual 100 a fifth of the API server's time goes into collecting.
		"GOGC=400",
	}
}

// openLog opens the log of a process for adding to it.
func openLog(name string) (*os.File, error) {
	path := layout.Log(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
}
