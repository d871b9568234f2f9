package process

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// sleeper starts a process that lives until it is ended. A name with a bracket
// and a space is what /proc/PID/stat is easily misread by.
func sleeper(t *testing.T) ID {
	t.Helper()
	path := t.TempDir() + "/a) b (c"
	program, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, path); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(path, "60")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-ended
	})
	id, err := Of(command.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestKillEndsTheProcess(t *testing.T) {
	id := sleeper(t)
	if !id.Alive() {
		t.Fatal("a running process is not alive")
	}
	if err := id.Kill(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	if id.Alive() {
		t.Fatal("it is alive after Kill")
	}
}

func TestKillSparesAProcessThatOnlyHasTheNumber(t *testing.T) {
	id := sleeper(t)
	earlier := ID{PID: id.PID, Start: id.Start - 1}
	if earlier.Alive() {
		t.Fatal("another process was taken for the one before it")
	}
	if err := earlier.Kill(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	if !id.Alive() {
		t.Fatal("the wrong process was ended")
	}
}

func TestUntilSaysWhatItWaitedFor(t *testing.T) {
	err := Until(time.Millisecond, "rain", func() error { return errors.New("sunny") })
	if err == nil || !strings.Contains(err.Error(), "rain") || !strings.Contains(err.Error(), "sunny") {
		t.Fatalf("error is %v", err)
	}
}
