package inside

import (
	"log"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"sandglass.dev/e2e/cluster/node/internal/layout"
	"sandglass.dev/e2e/cluster/node/internal/process"
)

const (
	// conditionLimit is how long a service waits before it says what for.
	conditionLimit = 30 * time.Second
	// restartPause keeps a service that fails at once from taking the processor.
	restartPause = time.Second
)

// keep runs the service and starts it again whenever it ends.
func (r *reaper) keep(s service) {
	for {
		s.await()
		if err := r.once(s); err != nil {
			log.Printf("%s: %v", s.name, err)
		}
		<-time.After(restartPause)
	}
}

func (s service) await() {
	for _, ready := range s.after {
		for process.Until(conditionLimit, "what it needs", ready) != nil {
			log.Printf("%s still waits for what it needs: %v", s.name, ready())
		}
	}
}

func (r *reaper) once(s service) error {
	output, err := openLog(s.name)
	if err != nil {
		return err
	}
	defer output.Close() //nolint:errcheck // the service writes to its own copy
	pid, done, err := r.start(s.argv, output)
	if err != nil {
		return err
	}
	log.Printf("%s: started as process %d", s.name, pid)
	mark := filepath.Join(layout.Pids, s.name)
	if err := layout.Write(mark, []byte(strconv.Itoa(pid)+"\n"), 0o644); err != nil {
		return err
	}
	log.Printf("%s: ended with %s", s.name, describe(<-done))
	return os.Remove(mark)
}

func describe(status syscall.WaitStatus) string {
	if status.Signaled() {
		return "signal " + status.Signal().String()
	}
	return "exit code " + strconv.Itoa(status.ExitStatus())
}
