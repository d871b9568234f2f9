package network

import (
	"errors"
	"slices"
	"strings"

	"sandglass.dev/e2e/cluster/node/internal/layout"
)

// hostRules let the node's traffic out under the machine's address and keep a
// firewall that forwards nothing by default from stopping it. The comment is
// how they are found again.
func hostRules() [][]string {
	mark := " -m comment --comment " + layout.Name
	rules := []string{
		"nat POSTROUTING -s " + layout.NodeNetwork + " ! -o " + layout.HostDevice + mark + " -j MASQUERADE",
		"filter FORWARD -i " + layout.HostDevice + mark + " -j ACCEPT",
		"filter FORWARD -o " + layout.HostDevice + mark + " -j ACCEPT",
	}
	var split [][]string
	for _, rule := range rules {
		split = append(split, strings.Fields(rule))
	}
	return split
}

func addRules() error {
	for _, rule := range hostRules() {
		if err := iptables(rule[0], append([]string{"-I"}, rule[1:]...)); err != nil {
			return err
		}
	}
	return nil
}

func removeRules() error {
	rules, err := ourRules()
	failed := []error{err}
	for _, rule := range rules {
		failed = append(failed, iptables(rule[0], append([]string{"-D"}, rule[1:]...)))
	}
	return errors.Join(failed...)
}

// ourRules lists the machine's rules with our mark as table, chain, rest.
func ourRules() ([][]string, error) {
	var ours [][]string
	for _, table := range []string{"nat", "filter"} {
		out, err := run("iptables", "-w", "-t", table, "-S")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(out) {
			fields := strings.Fields(line)
			if fields[0] == "-A" && slices.Contains(fields, layout.Name) {
				ours = append(ours, append([]string{table}, fields[1:]...))
			}
		}
	}
	return ours, nil
}

func iptables(table string, arguments []string) error {
	_, err := run(append([]string{"iptables", "-w", "-t", table}, arguments...)...)
	return err
}
