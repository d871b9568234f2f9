package inside

import (
	"fmt"
	"os"
	"syscall"

	"sandglass.dev/e2e/cluster/node/internal/layout"
)

// mount builds the node's own view of the file system: the machine's, but
// with another /proc, another /run and its own folders where programs write
// to fixed places. All of it ends with the node.
func mount() error {
	// First cut off from the machine, so that nothing below reaches it, then
	// shared again, since the kubelet passes mounts on to containers.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SHARED, ""); err != nil {
		return fmt.Errorf("make mounts shared: %w", err)
	}
	const plain = syscall.MS_NOSUID | syscall.MS_NODEV
	if err := syscall.Mount("proc", "/proc", "proc", plain|syscall.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := syscall.Mount("tmpfs", "/run", "tmpfs", plain, "mode=0755"); err != nil {
		return fmt.Errorf("mount /run: %w", err)
	}
	for place, folder := range layout.Shadowed {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		if err := syscall.Mount(folder, place, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount %s on %s: %w", folder, place, err)
		}
	}
	return nil
}
