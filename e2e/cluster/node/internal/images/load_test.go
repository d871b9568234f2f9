package images

import "testing"

func TestShortNamesAreCompletedAsBuildahDoes(t *testing.T) {
	for given, want := range map[string]string{
		"gateway":                        "localhost/gateway:latest",
		"gateway:1":                      "localhost/gateway:1",
		"team/gateway:1":                 "localhost/team/gateway:1",
		"localhost/gateway:1":            "localhost/gateway:1",
		"registry.example.com:5000/a/b":  "registry.example.com:5000/a/b:latest",
		"registry.example.com/gateway:1": "registry.example.com/gateway:1",
	} {
		if got := fullName(given); got != want {
			t.Errorf("fullName(%q) = %q, not %q", given, got, want)
		}
	}
}
