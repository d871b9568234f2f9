package images

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// export is an image as buildah wrote it: one tar with a list of contents at
// its end, the configuration and a tar for each layer.
type export struct {
	file    *os.File
	entries map[string]*io.SectionReader
	config  string
	layers  []string
}

func open(path string) (*export, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	e := &export{file: file, entries: map[string]*io.SectionReader{}}
	if err := errors.Join(e.scan(), e.readContents()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return e, nil
}

func (e *export) close() error { return e.file.Close() }

// scan notes where each entry lies. The reader seeks, so it costs no reading.
func (e *export) scan() error {
	reader := tar.NewReader(e.file)
	for {
		header, err := reader.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		offset, err := e.file.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		e.entries[header.Name] = io.NewSectionReader(e.file, offset, header.Size)
	}
}

func (e *export) readContents() error {
	content, err := e.read("manifest.json")
	if err != nil {
		return err
	}
	var list []struct {
		Config string
		Layers []string
	}
	if err := json.Unmarshal(content, &list); err != nil {
		return err
	}
	if len(list) != 1 {
		return fmt.Errorf("archive holds %d images instead of one", len(list))
	}
	e.config, e.layers = list[0].Config, list[0].Layers
	return nil
}

func (e *export) read(name string) ([]byte, error) {
	entry, ok := e.entries[name]
	if !ok {
		return nil, fmt.Errorf("archive has no %s", name)
	}
	return io.ReadAll(entry)
}

// write sends the image, without the layers that are not lacking.
func (e *export) write(out io.Writer, name string, lacks func(digest string) bool) (Descriptor, error) {
	config, err := e.read(e.config)
	if err != nil {
		return Descriptor{}, err
	}
	content, layers, err := e.manifest(config)
	if err != nil {
		return Descriptor{}, err
	}
	manifest := describe(manifestType, content)
	stream := newArchive(out)
	if err := stream.name(name, manifest); err != nil {
		return Descriptor{}, err
	}
	for _, blob := range [][]byte{content, config} {
		if err := stream.blob(describe("", blob).Digest, int64(len(blob)), bytes.NewReader(blob)); err != nil {
			return Descriptor{}, err
		}
	}
	for i, layer := range layers {
		if !lacks(layer.Digest) {
			continue
		}
		if err := stream.blob(layer.Digest, layer.Size, e.layer(i)); err != nil {
			return Descriptor{}, err
		}
	}
	return manifest, stream.close()
}

// manifest makes what the archive lacks. The layers' digests need not be
// computed: uncompressed, they are the names that the configuration gives.
func (e *export) manifest(config []byte) ([]byte, []Descriptor, error) {
	var names struct {
		Rootfs struct {
			DiffIDs []string `json:"diff_ids"`
		} `json:"rootfs"`
	}
	if err := json.Unmarshal(config, &names); err != nil {
		return nil, nil, err
	}
	if len(names.Rootfs.DiffIDs) != len(e.layers) {
		return nil, nil, fmt.Errorf("archive has %d layers, its configuration names %d", len(e.layers), len(names.Rootfs.DiffIDs))
	}
	var layers []Descriptor
	for i, name := range e.layers {
		digest := names.Rootfs.DiffIDs[i]
		entry, ok := e.entries[name]
		if !ok || strings.TrimSuffix(name, ".tar") != strings.TrimPrefix(digest, "sha256:") {
			return nil, nil, fmt.Errorf("layer %s of the archive is not %s", name, digest)
		}
		layers = append(layers, Descriptor{MediaType: layerType, Digest: digest, Size: entry.Size()})
	}
	content, err := json.Marshal(Manifest{
		SchemaVersion: 2, MediaType: manifestType, Config: describe(configType, config), Layers: layers,
	})
	return content, layers, err
}

// layer reads from the start each time: an image may have the same layer twice.
func (e *export) layer(i int) io.Reader {
	entry := e.entries[e.layers[i]]
	return io.NewSectionReader(entry, 0, entry.Size())
}
