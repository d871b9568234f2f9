// Package gate tells the policy engine whose address is whose from the moment
// it is given out. The API server learns it only when the pod's first container
// already runs, and to the engine an address without a pod is one without
// policies. The CNI plugin reports each address here and the pod does not
// start before the answer.
package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// Gate is a pod informer that also finds pods by addresses it was told of.
type Gate struct {
	coreinformers.PodInformer
	// limit is how long a pod may stay unknown to the engine's watch.
	limit  time.Duration
	lock   sync.Mutex
	owners map[string]owner
}

// owner is the pod that has an address. The object is remembered because a
// pod may vanish from the API while its processes still run.
type owner struct {
	key string
	pod *v1.Pod
}

// report is what the CNI plugin sends.
type report struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Addresses []string `json:"addresses"`
}

// New makes a gate in front of the informer.
func New(pods coreinformers.PodInformer) *Gate {
	return &Gate{PodInformer: pods, limit: 5 * time.Second, owners: map[string]owner{}}
}

// Informer is the way the engine looks up pods by address.
func (g *Gate) Informer() cache.SharedIndexInformer {
	return gatedInformer{g.PodInformer.Informer(), g}
}

type gatedInformer struct {
	cache.SharedIndexInformer
	gate *Gate
}

func (i gatedInformer) GetIndexer() cache.Indexer {
	return gatedIndexer{i.SharedIndexInformer.GetIndexer(), i.gate}
}

type gatedIndexer struct {
	cache.Indexer
	gate *Gate
}

// ByIndex prefers what the gate knows; pods from before this process started
// are found as the API server knows them.
func (i gatedIndexer) ByIndex(index, address string) ([]any, error) {
	if pod := i.gate.owner(i.Indexer, address); pod != nil {
		return []any{pod}, nil
	}
	return i.Indexer.ByIndex(index, address)
}

func (g *Gate) owner(pods cache.Store, address string) *v1.Pod {
	g.lock.Lock()
	defer g.lock.Unlock()
	known, ok := g.owners[address]
	if !ok {
		return nil
	}
	if now, found, err := pods.GetByKey(known.key); err == nil && found {
		known.pod = now.(*v1.Pod)
		g.owners[address] = known
	}
	return known.pod
}

// Serve answers the CNI plugin until the context ends.
func (g *Gate) Serve(ctx context.Context, socket string) error {
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	routes := http.NewServeMux()
	routes.HandleFunc("PUT /pods", g.answer(g.admit))
	routes.HandleFunc("DELETE /pods", g.answer(g.forget))
	server := &http.Server{Handler: routes, ReadHeaderTimeout: time.Second}
	context.AfterFunc(ctx, func() { server.Close() }) //nolint:errcheck // the process ends anyway
	return server.Serve(listener)
}

func (g *Gate) answer(do func(context.Context, report) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var given report
		err := json.NewDecoder(r.Body).Decode(&given)
		if err == nil {
			err = do(r.Context(), given)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	}
}

// admit returns when the engine knows the pod, or fails and so keeps it from starting.
func (g *Gate) admit(ctx context.Context, given report) error {
	key := given.Namespace + "/" + given.Name
	pods := g.PodInformer.Informer().GetIndexer()
	var pod *v1.Pod
	err := wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, g.limit, true, func(context.Context) (bool, error) {
		found, ok, err := pods.GetByKey(key)
		if ok {
			pod = found.(*v1.Pod)
		}
		return ok, err
	})
	if err != nil {
		return fmt.Errorf("pod %s is not known yet: %w", key, err)
	}
	g.lock.Lock()
	defer g.lock.Unlock()
	for _, address := range given.Addresses {
		g.owners[address] = owner{key: key, pod: pod}
	}
	return nil
}

func (g *Gate) forget(_ context.Context, given report) error {
	g.lock.Lock()
	defer g.lock.Unlock()
	for _, address := range given.Addresses {
		delete(g.owners, address)
	}
	return nil
}
