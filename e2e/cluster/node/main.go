// Command node starts and ends a Kubernetes node of one machine, is that
// node's first process, and is its CNI plugin. The script "cluster" beside
// this module builds and calls it.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"sandglass.dev/e2e/cluster/node/internal/cluster"
	"sandglass.dev/e2e/cluster/node/internal/gate"
	"sandglass.dev/e2e/cluster/node/internal/images"
	"sandglass.dev/e2e/cluster/node/internal/inside"
	"sandglass.dev/e2e/cluster/node/internal/layout"
)

// commands are what the script calls; their arguments are checked there.
var commands = map[string]func(arguments []string) error{
	"up":          up,
	"down":        func([]string) error { return cluster.Down(os.Stdout) },
	"verify-down": func([]string) error { return cluster.Verify() },
	"status":      func([]string) error { return cluster.Status(os.Stdout) },
	"pid":         pid,
	"load":        load,
	"restart":     restart,
	"pack":        pack,
	"kubeconfig":  kubeconfig,
	"init":        func([]string) error { return inside.Main() },
}

func main() {
	if err := dispatch(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func dispatch(arguments []string) error {
	// The container runtime calls a plugin by its name, without arguments.
	if filepath.Base(arguments[0]) == layout.GatePlugin {
		return gate.Plugin(os.Stdin, os.Stdout)
	}
	if len(arguments) < 2 || commands[arguments[1]] == nil {
		return fmt.Errorf("unknown command %q", arguments[1:])
	}
	return commands[arguments[1]](arguments[2:])
}

func up(arguments []string) error {
	var build cluster.Build
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	flags.StringVar(&build.Programs, "programs", "", "folder with the node's programs and images")
	flags.StringVar(&build.Key, "key", "", "what they were built from")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	return cluster.Up(build, os.Stdout)
}

func pid([]string) error {
	found, err := cluster.PID()
	if err == nil {
		fmt.Println(found)
	}
	return err
}

func kubeconfig([]string) error {
	if _, err := cluster.PID(); err != nil {
		return err
	}
	fmt.Println(layout.Kubeconfig)
	return nil
}

func load(names []string) error {
	found, err := cluster.PID()
	if err != nil {
		return err
	}
	return images.Node{PID: found}.Load(names, os.Stdout)
}

func restart(services []string) error {
	if len(services) != 1 {
		return fmt.Errorf("restart takes the name of one service, not %q", services)
	}
	return cluster.Restart(services[0], os.Stdout)
}

// pack makes the image IMAGE of the program PROGRAM in the file ARCHIVE.
func pack(arguments []string) error {
	if len(arguments) != 3 {
		return fmt.Errorf("pack takes an image name, a program and an archive, not %q", arguments)
	}
	return images.Pack(arguments[0], arguments[1], arguments[2])
}
