package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"sandglass.dev/e2e/cluster/node/internal/layout"
)

// madeMark lies in a folder that we made, where the node's mount hides it. It
// says so even when the record is lost.
const madeMark = ".made-by-" + layout.Name

// makePlaces makes those folders on which the node mounts its own and which
// the machine lacks.
func makePlaces() error {
	for place := range layout.Shadowed {
		err := os.Mkdir(place, 0o755)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(place, madeMark), nil, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// madePlaces lists what makePlaces made.
func madePlaces() []string {
	var made []string
	for place := range layout.Shadowed {
		if _, err := os.Stat(filepath.Join(place, madeMark)); err == nil {
			made = append(made, place)
		}
	}
	return made
}

// removePlaces spares a folder into which somebody else has put something.
func removePlaces() error {
	var failed []error
	for _, place := range madePlaces() {
		failed = append(failed, os.Remove(filepath.Join(place, madeMark)))
		if err := os.Remove(place); !errors.Is(err, syscall.ENOTEMPTY) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
