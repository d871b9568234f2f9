package gate

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
)

const byAddress = "byAddress"

// started is a gate in front of an informer without an API server, its
// engine's view of the pods, and the CNI plugin's way of calling it.
func started(t *testing.T) (*Gate, cache.Indexer, func(method, body string) int) {
	t.Helper()
	pods := informers.NewSharedInformerFactory(fake.NewClientset(), 0).Core().V1().Pods()
	gate := New(pods)
	gate.limit = 50 * time.Millisecond
	err := gate.Informer().AddIndexers(cache.Indexers{byAddress: func(object any) ([]string, error) {
		if address := object.(*v1.Pod).Status.PodIP; address != "" {
			return []string{address}, nil
		}
		return nil, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "socket")
	ready := make(chan struct{})
	go func() {
		close(ready)
		_ = gate.Serve(t.Context(), socket)
	}()
	<-ready
	return gate, gate.Informer().GetIndexer(), caller(t, socket)
}

func caller(t *testing.T, socket string) func(method, body string) int {
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		for {
			connection, err := new(net.Dialer).DialContext(ctx, "unix", socket)
			if err == nil || ctx.Err() != nil {
				return connection, err
			}
		}
	}}}
	return func(method, body string) int {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://gate/pods", bytes.NewBufferString(body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode
	}
}

func pod(name, address string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
		Status:     v1.PodStatus{PodIP: address},
	}
}

func ownerOf(t *testing.T, pods cache.Indexer, address string) string {
	t.Helper()
	found, err := pods.ByIndex(byAddress, address)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		return ""
	}
	return found[0].(*v1.Pod).Name
}

const reportOfOne = `{"namespace":"ns","name":"one","addresses":["10.244.0.5"]}`

func TestAnAddressIsKnownBeforeTheAPIServerHasIt(t *testing.T) {
	gate, pods, call := started(t)
	if err := gate.PodInformer.Informer().GetIndexer().Add(pod("one", "")); err != nil {
		t.Fatal(err)
	}
	if got := ownerOf(t, pods, "10.244.0.5"); got != "" {
		t.Fatalf("before the report the owner is %q", got)
	}
	if status := call(http.MethodPut, reportOfOne); status != http.StatusOK {
		t.Fatalf("report answered with %d", status)
	}
	if got := ownerOf(t, pods, "10.244.0.5"); got != "one" {
		t.Fatalf("after the report the owner is %q", got)
	}
}

func TestAPodThatVanishedKeepsItsAddressUntilItIsGivenBack(t *testing.T) {
	gate, pods, call := started(t)
	store := gate.PodInformer.Informer().GetIndexer()
	if err := store.Add(pod("one", "")); err != nil {
		t.Fatal(err)
	}
	call(http.MethodPut, reportOfOne)
	if err := store.Delete(pod("one", "")); err != nil {
		t.Fatal(err)
	}
	if got := ownerOf(t, pods, "10.244.0.5"); got != "one" {
		t.Fatalf("while its processes run the owner is %q", got)
	}
	call(http.MethodDelete, reportOfOne)
	if got := ownerOf(t, pods, "10.244.0.5"); got != "" {
		t.Fatalf("after it was given back the owner is %q", got)
	}
}

func TestANewOwnerComesBeforeAFinishedOneWithTheSameAddress(t *testing.T) {
	gate, pods, call := started(t)
	store := gate.PodInformer.Informer().GetIndexer()
	for _, known := range []*v1.Pod{pod("finished", "10.244.0.5"), pod("one", "")} {
		if err := store.Add(known); err != nil {
			t.Fatal(err)
		}
	}
	call(http.MethodPut, reportOfOne)
	if got := ownerOf(t, pods, "10.244.0.5"); got != "one" {
		t.Fatalf("the owner is %q", got)
	}
}

func TestAPodTheEngineDoesNotKnowIsRefused(t *testing.T) {
	_, _, call := started(t)
	if status := call(http.MethodPut, reportOfOne); status != http.StatusServiceUnavailable {
		t.Fatalf("report answered with %d", status)
	}
}

func TestWhatIsNoReportIsRefused(t *testing.T) {
	_, _, call := started(t)
	if status := call(http.MethodPut, "{"); status != http.StatusServiceUnavailable {
		t.Fatalf("answered with %d", status)
	}
}
