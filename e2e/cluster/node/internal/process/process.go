// Package process names processes so that a reused number is never taken for
// the process that had it before.
package process

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ID is a process: its number and the kernel's tick at which it started.
type ID struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// Of names the process that has this number now.
func Of(pid int) (ID, error) {
	fields, err := stat(pid)
	if err != nil {
		return ID{}, err
	}
	start, err := strconv.ParseUint(fields[startField], 10, 64)
	return ID{PID: pid, Start: start}, err
}

// Alive tells whether the process still runs; one that only waits to be
// collected by its parent does not.
func (id ID) Alive() bool {
	fields, err := stat(id.PID)
	if err != nil || slices.Contains([]string{"Z", "X"}, fields[stateField]) {
		return false
	}
	return fields[startField] == strconv.FormatUint(id.Start, 10)
}

// Kill ends the process and waits until it is gone. It holds the process by a
// descriptor while it compares the start, so the signal cannot hit another.
func (id ID) Kill(limit time.Duration) error {
	held, err := os.FindProcess(id.PID)
	if err != nil {
		return err
	}
	defer held.Release() //nolint:errcheck // only gives the descriptor back
	if !id.Alive() {
		return nil
	}
	if err := held.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end process %d: %w", id.PID, err)
	}
	return Until(limit, fmt.Sprintf("process %d to end", id.PID), func() error {
		if id.Alive() {
			return errors.New("it still runs")
		}
		return nil
	})
}

// Until asks again and again until the answer is no error, and says what it
// waited for when the time is up.
func Until(limit time.Duration, what string, ask func() error) error {
	deadline := time.Now().Add(limit)
	for {
		err := ask()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("waited %s for %s: %w", limit, what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Positions in /proc/PID/stat after the command's name, which is left out
// because it may hold anything, spaces and brackets too.
const (
	stateField = 0
	startField = 19
)

func stat(pid int) ([]string, error) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(line[strings.LastIndexByte(string(line), ')')+1:]))
	if len(fields) <= startField {
		return nil, fmt.Errorf("/proc/%d/stat has only %d fields", pid, len(fields))
	}
	return fields, nil
}
