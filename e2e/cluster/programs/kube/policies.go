package main

import (
	"context"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/informers"
	"sandglass.dev/e2e/cluster/programs/gate"
	"sigs.k8s.io/kube-network-policies/pkg/networkpolicy"
)

// enforcePolicies answers for each new connection in the queue whether the
// NetworkPolicies allow it.
func enforcePolicies(ctx context.Context, given settings) error {
	client, err := given.client()
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := gate.New(factory.Core().V1().Pods())
	engine, err := networkpolicy.NewController(client,
		factory.Networking().V1().NetworkPolicies(), factory.Core().V1().Namespaces(), pods,
		nil, nil, nil, nil,
		networkpolicy.Config{QueueID: given.queue, NodeName: given.node})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())

	running, ctx := errgroup.WithContext(ctx)
	running.Go(func() error { return engine.Run(ctx) })
	running.Go(func() error { return pods.Serve(ctx, given.socket) })
	return running.Wait()
}
