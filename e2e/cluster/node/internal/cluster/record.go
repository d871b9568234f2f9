package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"sandglass.dev/e2e/cluster/node/internal/layout"
	"sandglass.dev/e2e/cluster/node/internal/process"
)

// record is what a later command has to know of a running cluster.
type record struct {
	process.ID
	// Build is what the cluster was built from. A cluster of another build is
	// not what the caller asked for.
	Build string `json:"build"`
}

// current reads the record. No record, or half of one, is no cluster.
func current() (record, bool) {
	content, err := os.ReadFile(layout.Record)
	if err != nil {
		return record{}, false
	}
	var found record
	if json.Unmarshal(content, &found) != nil || found.PID <= 1 {
		return record{}, false
	}
	return found, true
}

func (r record) save() error {
	content, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return layout.Write(layout.Record, content, 0o644)
}

// PID is the node's first process as the machine numbers it.
func PID() (int, error) {
	found, ok := current()
	if !ok || !found.Alive() {
		return 0, errors.New("the cluster is not running; start it with the command up")
	}
	return found.PID, nil
}

// locked does the work while no other up or down can.
func locked(say io.Writer, work func() error) error {
	if err := os.MkdirAll(filepath.Dir(layout.Lock), 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(layout.Lock, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // also gives the lock back
	descriptor := int(lock.Fd())
	if syscall.Flock(descriptor, syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		fmt.Fprintln(say, "another start or stop is under way; waiting for it") //nolint:errcheck
		if err := syscall.Flock(descriptor, syscall.LOCK_EX); err != nil {
			return err
		}
	}
	return work()
}
