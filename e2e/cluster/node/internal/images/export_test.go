package images

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// exported writes an archive as buildah does, with these layers.
func exported(t *testing.T, layers ...string) *export {
	t.Helper()
	var digests, names []string
	entries := map[string]string{}
	for _, layer := range layers {
		digest := describe("", []byte(layer)).Digest
		name := strings.TrimPrefix(digest, "sha256:") + ".tar"
		digests, names = append(digests, digest), append(names, name)
		entries[name] = layer
	}
	entries["config.json"] = fmt.Sprintf(`{"rootfs":{"type":"layers","diff_ids":%s}}`, encoded(t, digests))
	entries["manifest.json"] = fmt.Sprintf(`[{"Config":"config.json","Layers":%s}]`, encoded(t, names))
	var content bytes.Buffer
	out := tar.NewWriter(&content)
	for name, entry := range entries {
		if err := (archive{out}).file(name, int64(len(entry)), strings.NewReader(entry)); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "image.tar")
	if err := os.WriteFile(path, content.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.close() })
	return e
}

func encoded(t *testing.T, value any) string {
	content, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// sent writes the image and gives back what the stream holds.
func sent(t *testing.T, e *export, lacks func(string) bool) map[string]string {
	t.Helper()
	var stream bytes.Buffer
	if _, err := e.write(&stream, "localhost/x:1", lacks); err != nil {
		t.Fatal(err)
	}
	entries := map[string]string{}
	for reader := tar.NewReader(&stream); ; {
		header, err := reader.Next()
		if err == io.EOF {
			return entries
		}
		content, readErr := io.ReadAll(reader)
		if err != nil || readErr != nil {
			t.Fatal(err, readErr)
		}
		entries[header.Name] = string(content)
	}
}

func blobName(content string) string {
	return "blobs/" + strings.ReplaceAll(describe("", []byte(content)).Digest, ":", "/")
}

func TestEveryBlobIsSentUnderItsDigest(t *testing.T) {
	// The same layer twice, as images with an empty layer have it.
	entries := sent(t, exported(t, "base", "app", "base"), func(string) bool { return true })
	for _, layer := range []string{"base", "app"} {
		if entries[blobName(layer)] != layer {
			t.Errorf("layer %s is not in the stream", layer)
		}
	}
	if !strings.Contains(entries["index.json"], `"io.containerd.image.name":"localhost/x:1"`) {
		t.Errorf("index does not name the image: %s", entries["index.json"])
	}
	for name, content := range entries {
		if strings.HasPrefix(name, "blobs/") && name != blobName(content) {
			t.Errorf("%s has other content", name)
		}
	}
}

func TestALayerThatIsThereIsNotSent(t *testing.T) {
	there := describe("", []byte("base")).Digest
	entries := sent(t, exported(t, "base", "app"), func(digest string) bool { return digest != there })
	if _, found := entries[blobName("base")]; found {
		t.Error("the layer that is there was sent")
	}
	if entries[blobName("app")] != "app" {
		t.Error("the layer that is lacking was not sent")
	}
}

func TestPackingTwiceGivesTheSame(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "program")
	if err := os.WriteFile(program, []byte("static"), 0o755); err != nil {
		t.Fatal(err)
	}
	var archives [2][]byte
	for i := range archives {
		path := filepath.Join(folder, fmt.Sprint(i))
		if err := Pack("localhost/x:1", program, path); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		archives[i] = content
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("the archives differ")
	}
}
