// Command kube holds every Kubernetes program of the node in one binary and
// picks one by the name it is called under, so that their common packages are
// compiled, linked and stored once.
package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

var programs = map[string]func() int{
	"etcd":                    etcd,
	"kubectl":                 runKubectl,
	"kube-apiserver":          func() int { return cli.Run(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": func() int { return cli.Run(controllermanager.NewControllerManagerCommand()) },
	"kube-proxy":              func() int { return cli.Run(proxy.NewProxyCommand()) },
	"kube-scheduler":          func() int { return cli.Run(scheduler.NewSchedulerCommand()) },
	"kubelet":                 func() int { return cli.Run(kubelet.NewKubeletCommand(context.Background())) },
	"local-volumes":           func() int { return cli.Run(ours("local-volumes", provideVolumes)) },
	"network-policies":        func() int { return cli.Run(ours("network-policies", enforcePolicies)) },
}

func main() {
	name := filepath.Base(os.Args[0])
	run, ok := programs[name]
	if !ok {
		known := strings.Join(slices.Sorted(maps.Keys(programs)), ", ")
		fmt.Fprintf(os.Stderr, "%s is no program of this binary; call it by a link named one of: %s\n", name, known)
		os.Exit(2)
	}
	os.Exit(run())
}

func etcd() int {
	etcdmain.Main(os.Args)
	return 0
}

// runKubectl is not cli.Run: kubectl words its errors and chooses its exit codes itself.
func runKubectl() int {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
	return 0
}

// ours makes a command of a function of this package. What it needs to know
// comes as flags.
func ours(name string, run func(context.Context, settings) error) *cobra.Command {
	var given settings
	command := &cobra.Command{
		Use:          name,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			if err := run(ctx, given); err != nil && !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		},
	}
	given.addFlags(command.Flags())
	return command
}
