// Package inside is the node from within: PID 1 of its namespaces, which
// mounts, sets up the network, starts the services and keeps them running.
// When it ends, the kernel ends everything else in there with it.
package inside

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"sandglass.dev/e2e/cluster/node/internal/config"
	"sandglass.dev/e2e/cluster/node/internal/layout"
	"sandglass.dev/e2e/cluster/node/internal/network"
	"sandglass.dev/e2e/cluster/node/internal/process"
)

// Ready is the word by which the starter tells that cgroups and cable are in
// place.
const Ready = "go"

// Main is the whole life of PID 1. It returns only to end the node.
func Main() error {
	log.SetFlags(log.LstdFlags | log.Lmicroseconds)
	if os.Getpid() != 1 {
		return errors.New("this is the node's first process; use the command up")
	}
	if err := awaitStarter(); err != nil {
		return err
	}
	if err := mount(); err != nil {
		return err
	}
	if err := syscall.Sethostname([]byte(layout.NodeName)); err != nil {
		return err
	}
	children, err := newReaper()
	if err != nil {
		return err
	}
	if err := network.SetUpNode(children.run, config.Path(config.Files.Rules)); err != nil {
		return err
	}
	go children.loadImages()
	for _, s := range services() {
		go children.keep(s)
	}
	return awaitEnd()
}

// awaitStarter blocks until the starter has done its part. If the starter was
// killed before, its end of the pipe is closed and the node ends unborn.
func awaitStarter() error {
	word, err := io.ReadAll(io.LimitReader(os.Stdin, int64(len(Ready))))
	if err != nil {
		return err
	}
	if string(word) != Ready {
		return errors.New("the starter ended before the node was prepared")
	}
	return nil
}

// loadImages brings in the images without which no pod starts.
func (r *reaper) loadImages() {
	for {
		err := r.tryLoadImages()
		if err == nil {
			return
		}
		log.Printf("load images: %v", err)
		<-time.After(restartPause)
	}
}

func (r *reaper) tryLoadImages() error {
	if err := process.Until(conditionLimit, "containerd", containerdAnswers); err != nil {
		return err
	}
	archives, err := filepath.Glob(filepath.Join(layout.Programs, "*.tar"))
	if err != nil || len(archives) == 0 {
		return fmt.Errorf("no images in %s: %w", layout.Programs, err)
	}
	for _, archive := range archives {
		if err := r.run("ctr", "--address", layout.ContainerdSocket, "--namespace", "k8s.io", "images", "import", archive); err != nil {
			return err
		}
	}
	return layout.Write(imagesMark, nil, 0o644)
}

func awaitEnd() error {
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGINT)
	log.Printf("ends on signal %v", <-ends)
	return nil
}
