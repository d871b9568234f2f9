package images

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"sandglass.dev/e2e/cluster/node/internal/layout"
)

// Node is where images are loaded to.
type Node struct {
	// PID is its first process as the machine numbers it.
	PID int
}

// Load brings images from the machine's buildah into the node. One that the
// node has already costs a look only, and so do layers it has.
func (n Node) Load(names []string, say io.Writer) error {
	there, err := n.list()
	if err != nil {
		return err
	}
	for _, name := range names {
		start := time.Now()
		image, err := find(name)
		if err != nil {
			return err
		}
		if digest, err := os.ReadFile(image.record()); err == nil && there[image.name] == string(digest) {
			fmt.Fprintf(say, "%s is there already\n", image.name) //nolint:errcheck
			continue
		}
		if err := n.load(image); err != nil {
			return fmt.Errorf("load %s: %w", image.name, err)
		}
		fmt.Fprintf(say, "%s loaded in %.1f s\n", image.name, time.Since(start).Seconds()) //nolint:errcheck
	}
	return nil
}

// image is one of buildah's.
type image struct {
	name, id string
}

func find(name string) (image, error) {
	id, err := output("buildah", "inspect", "--type", "image", "--format", "{{.FromImageID}}", name)
	return image{name: fullName(name), id: strings.TrimSpace(id)}, err
}

// fullName completes a name as buildah does for its own images; to Kubernetes
// a short one would mean a public registry.
func fullName(name string) string {
	registry, rest, found := strings.Cut(name, "/")
	if !found || !strings.ContainsAny(registry, ".:") && registry != "localhost" {
		name, rest = "localhost/"+name, name
	}
	if !strings.Contains(rest, ":") {
		name += ":latest"
	}
	return name
}

// record is the file that holds the digest under which the node has the image.
// It goes when the node's images go.
func (i image) record() string { return filepath.Join(layout.Images, i.id) }

func (n Node) load(image image) error {
	folder, err := os.MkdirTemp(layout.Temporary, "load-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // goes with the state at the latest
	path := filepath.Join(folder, "image.tar")
	// This form, because buildah writes it without compressing.
	if _, err := output("buildah", "push", "--quiet", image.id, "docker-archive:"+path+":"+image.name); err != nil {
		return err
	}
	exported, err := open(path)
	if err != nil {
		return err
	}
	defer exported.close() //nolint:errcheck // only read from
	manifest, err := n.imports(image.name, exported)
	if err != nil {
		return err
	}
	return layout.Write(image.record(), []byte(manifest.Digest), 0o644)
}

// imports streams the image to the node's container runtime.
func (n Node) imports(name string, exported *export) (Descriptor, error) {
	command := n.ctr("images", "import", "-")
	input, err := command.StdinPipe()
	if err != nil {
		return Descriptor{}, err
	}
	var said strings.Builder
	command.Stdout, command.Stderr = &said, &said
	if err := command.Start(); err != nil {
		return Descriptor{}, err
	}
	manifest, written := exported.write(input, name, lacks)
	closed := input.Close()
	if err := command.Wait(); err != nil {
		return Descriptor{}, fmt.Errorf("ctr: %w: %s", err, said.String())
	}
	return manifest, errors.Join(written, closed)
}

// lacks tells whether the node has to be sent a blob.
func lacks(digest string) bool {
	_, err := os.Stat(filepath.Join(layout.Blobs, strings.TrimPrefix(digest, "sha256:")))
	return err != nil
}

// list gives the digest of each image the node has, by name.
func (n Node) list() (map[string]string, error) {
	out, err := n.ctr("images", "list").Output()
	if err != nil {
		return nil, fmt.Errorf("list the node's images: %w", err)
	}
	there := map[string]string{}
	for line := range strings.Lines(string(out)) {
		// REF TYPE DIGEST ...
		if fields := strings.Fields(line); len(fields) > 2 {
			there[fields[0]] = fields[2]
		}
	}
	return there, nil
}

// ctr reaches the runtime's socket through the node's own file system.
func (n Node) ctr(arguments ...string) *exec.Cmd {
	socket := fmt.Sprintf("/proc/%d/root%s", n.PID, layout.ContainerdSocket)
	return exec.Command("ctr", append([]string{"--address", socket, "--namespace", "k8s.io"}, arguments...)...)
}

func output(argv ...string) (string, error) {
	out, err := exec.Command(argv[0], argv[1:]...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, strings.TrimSpace(string(failed.Stderr)))
	}
	return string(out), err
}
