package inside

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"sandglass.dev/e2e/cluster/node/internal/kube"
	"sandglass.dev/e2e/cluster/node/internal/layout"
)

// condition is something a service waits for.
type condition func() error

func etcdAnswers() error { return dial("tcp", etcdAddress) }

func containerdAnswers() error { return dial("unix", layout.ContainerdSocket) }

func dial(network, address string) error {
	connection, err := net.Dial(network, address)
	if err != nil {
		return err
	}
	return connection.Close()
}

var clientOnce = sync.OnceValues(kube.NewClient)

func apiServerReady() error {
	client, err := clientOnce()
	if err != nil {
		return err
	}
	return client.Ready()
}

// imagesLoaded is a file, so that it is still true when a service is started
// again.
func imagesLoaded() error {
	if _, err := os.Stat(imagesMark); err != nil {
		return fmt.Errorf("images are not loaded yet: %w", err)
	}
	return nil
}

var imagesMark = filepath.Join(layout.Pids, "images-loaded")
