package network

import (
	"os"

	"sandglass.dev/e2e/cluster/node/internal/layout"
)

// nodeSettings are the kernel settings of the node's own namespace.
var nodeSettings = [][2]string{
	{"ipv4/ip_forward", "1"},
	// A pod that sends under another's address gets no further than its cable.
	{"ipv4/conf/all/rp_filter", "1"},
	{"ipv4/conf/default/rp_filter", "1"},
}

// noIPv6 closes the way that the policies' rules, being for IPv4, do not see.
var noIPv6 = [][2]string{
	{"ipv6/conf/all/disable_ipv6", "1"},
	{"ipv6/conf/default/disable_ipv6", "1"},
}

// Run executes a command; PID 1 has to collect its children itself, so it
// brings its own.
type Run func(argv ...string) error

// SetUpNode gives the node its address, its way out and its rules. It runs
// inside, after Connect.
func SetUpNode(run Run, rules string) error {
	settings := nodeSettings
	if _, err := os.Stat(sysctlPath("ipv6")); err == nil {
		settings = append(settings, noIPv6...)
	}
	for _, setting := range settings {
		if err := sysctl(setting[0], setting[1]); err != nil {
			return err
		}
	}
	commands := [][]string{
		{"ip", "link", "set", "lo", "up"},
		{"ip", "addr", "add", layout.NodeAddress + "/24", "dev", layout.NodeDevice},
		{"ip", "link", "set", layout.NodeDevice, "up"},
		{"ip", "route", "add", "default", "via", layout.HostAddress},
		{"iptables-restore", rules},
	}
	for _, command := range commands {
		if err := run(command...); err != nil {
			return err
		}
	}
	return nil
}
