// Package images writes container images in the OCI layout as tar streams,
// the form in which containerd takes them.
package images

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"runtime"
	"strings"
)

const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar"

	// nameAnnotation is where containerd looks for an image's full name.
	nameAnnotation = "io.containerd.image.name"
)

// Descriptor points to a blob, in the form of the OCI image specification.
type Descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Manifest lists what an image is made of.
type Manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType,omitempty"`
	Config        Descriptor   `json:"config"`
	Layers        []Descriptor `json:"layers"`
}

type index struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType,omitempty"`
	Manifests     []Descriptor `json:"manifests"`
}

// archive is an image layout as a tar stream.
type archive struct {
	out *tar.Writer
}

func newArchive(out io.Writer) archive { return archive{tar.NewWriter(out)} }

// name writes the entry by which the manifest becomes an image of that name.
func (a archive) name(image string, manifest Descriptor) error {
	manifest.Annotations = map[string]string{nameAnnotation: image}
	if err := a.json("oci-layout", map[string]string{"imageLayoutVersion": "1.0.0"}); err != nil {
		return err
	}
	return a.json("index.json", index{SchemaVersion: 2, MediaType: indexType, Manifests: []Descriptor{manifest}})
}

func (a archive) json(path string, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return a.file(path, int64(len(content)), bytes.NewReader(content))
}

func (a archive) blob(digest string, size int64, content io.Reader) error {
	return a.file("blobs/"+strings.ReplaceAll(digest, ":", "/"), size, content)
}

func (a archive) file(path string, size int64, content io.Reader) error {
	if err := a.out.WriteHeader(&tar.Header{Name: path, Mode: 0o644, Size: size}); err != nil {
		return err
	}
	_, err := io.Copy(a.out, content)
	return err
}

func (a archive) close() error { return a.out.Close() }

func describe(mediaType string, content []byte) Descriptor {
	sum := sha256.Sum256(content)
	return Descriptor{MediaType: mediaType, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(content))}
}

// python is the name by which every sandbox's first process is started. The
// program answers to it, so that tests of the operator can run sandboxes of an
// image that costs next to nothing.
const python = "usr/bin/python3"

// Pack makes an image of one static program. The same program gives the same
// bytes, whenever it is packed.
func Pack(image, program, path string) error {
	layer, err := layerOf(program)
	if err != nil {
		return err
	}
	layers := describe(layerType, layer)
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH,
		"os":           "linux",
		"config":       map[string]any{"Entrypoint": []string{"/program"}, "User": "65532:65532"},
		"rootfs":       map[string]any{"type": "layers", "diff_ids": []string{layers.Digest}},
	})
	if err != nil {
		return err
	}
	manifest, err := json.Marshal(Manifest{
		SchemaVersion: 2, MediaType: manifestType,
		Config: describe(configType, config), Layers: []Descriptor{layers},
	})
	if err != nil {
		return err
	}
	return writePacked(path, image, describe(manifestType, manifest), [][]byte{manifest, config, layer})
}

func layerOf(program string) ([]byte, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	layer := tar.NewWriter(&out)
	if err := layer.WriteHeader(&tar.Header{Name: "program", Mode: 0o755, Size: int64(len(content))}); err != nil {
		return nil, err
	}
	if _, err := layer.Write(content); err != nil {
		return nil, err
	}
	link := tar.Header{Name: python, Linkname: "/program", Typeflag: tar.TypeSymlink, Mode: 0o777}
	if err := layer.WriteHeader(&link); err != nil {
		return nil, err
	}
	err = layer.Close()
	return out.Bytes(), err
}

func writePacked(path, image string, manifest Descriptor, blobs [][]byte) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // the one below counts
	out := newArchive(file)
	if err := out.name(image, manifest); err != nil {
		return err
	}
	for _, blob := range blobs {
		if err := out.blob(describe("", blob).Digest, int64(len(blob)), bytes.NewReader(blob)); err != nil {
			return err
		}
	}
	if err := out.close(); err != nil {
		return err
	}
	return file.Close()
}
