// Package network lays the cable between the machine and the node and makes
// the rules at both ends.
package network

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// run executes one of the system's network tools and puts what it says into the error.
func run(argv ...string) (string, error) {
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

func runAll(commands ...string) error {
	for _, command := range commands {
		if _, err := run(strings.Fields(command)...); err != nil {
			return err
		}
	}
	return nil
}

// sysctl sets a kernel setting of the network namespace we are in.
func sysctl(name, value string) error {
	return os.WriteFile(sysctlPath(name), []byte(value), 0o644)
}

// sysctlPath takes names with slashes, since a device's name may hold a dot.
func sysctlPath(name string) string { return "/proc/sys/net/" + name }
