package main

import (
	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// settings are what this package's own programs are told.
type settings struct {
	kubeconfig string
	node       string
	queue      int
	socket     string
	volumes    string
}

func (s *settings) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "how to reach the API server")
	flags.StringVar(&s.node, "node", "", "name of this node")
	flags.IntVar(&s.queue, "queue", 100, "netfilter queue that holds new connections (network-policies)")
	flags.StringVar(&s.socket, "socket", "", "where the CNI plugin reports pods' addresses (network-policies)")
	flags.StringVar(&s.volumes, "volumes", "", "folder that holds the volumes (local-volumes)")
}

// client speaks protobuf. For the policy engine that matters: there an empty
// list of rules and no list are the same, "nothing is allowed", which it would
// otherwise read as "everything is".
func (s *settings) client() (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		return nil, err
	}
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	config.ContentType = "application/vnd.kubernetes.protobuf"
	return kubernetes.NewForConfig(config)
}
