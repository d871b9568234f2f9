package network

import "testing"

func TestOverlaps(t *testing.T) {
	for destination, want := range map[string]bool{
		"10.244.7.0/24": true,
		"10.244.0.9":    true,
		"10.0.0.0/8":    true,
		"10.245.0.0/16": false,
		"192.0.2.1":     false,
		"default":       false,
	} {
		if got := overlaps("10.244.0.0/16", destination); got != want {
			t.Errorf("overlaps with %s: %v, not %v", destination, got, want)
		}
	}
}
