package network

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"sandglass.dev/e2e/cluster/node/internal/layout"
)

// Uplink is the device of the machine's default route, with its largest packet.
type Uplink struct {
	Device string
	MTU    int
}

// changed is what has to be put back on the machine when the node goes.
type changed struct {
	Forwarding map[string]string `json:"forwarding"`
}

type route struct {
	Destination string `json:"dst"`
	Device      string `json:"dev"`
}

// FindUplink looks the default route up. A machine without one is fine: its
// pods only reach each other.
func FindUplink() (Uplink, error) {
	found, err := routes()
	if err != nil {
		return Uplink{}, err
	}
	for _, route := range found {
		if route.Destination != "default" {
			continue
		}
		var mtu int
		content, err := os.ReadFile(filepath.Join("/sys/class/net", route.Device, "mtu"))
		if err == nil {
			_, err = fmt.Sscan(string(content), &mtu)
		}
		return Uplink{Device: route.Device, MTU: mtu}, err
	}
	return Uplink{MTU: 1500}, nil
}

// CheckFree refuses to start where somebody else uses one of our networks.
func CheckFree() error {
	found, err := routes()
	if err != nil {
		return err
	}
	for _, network := range []string{layout.NodeNetwork, layout.PodNetwork, layout.ServiceNetwork} {
		for _, route := range found {
			if route.Device != layout.HostDevice && overlaps(network, route.Destination) {
				return fmt.Errorf("the cluster needs the network %s, but this machine has a route to %s over %s",
					network, route.Destination, route.Device)
			}
		}
	}
	return nil
}

func overlaps(network, destination string) bool {
	ours := netip.MustParsePrefix(network)
	if address, err := netip.ParseAddr(destination); err == nil {
		return ours.Contains(address)
	}
	other, err := netip.ParsePrefix(destination)
	return err == nil && ours.Overlaps(other)
}

func routes() ([]route, error) {
	out, err := run("ip", "-4", "-json", "route", "show")
	if err != nil {
		return nil, err
	}
	var found []route
	err = json.Unmarshal([]byte(out), &found)
	return found, err
}

// Connect puts the cable between the machine and the namespace of the process.
func Connect(pid int, uplink Uplink) error {
	mtu := fmt.Sprint(uplink.MTU)
	cable := []string{"ip", "link", "add", layout.HostDevice, "mtu", mtu, "type", "veth",
		"peer", "name", layout.NodeDevice, "mtu", mtu, "netns", fmt.Sprint(pid)}
	if _, err := run(cable...); err != nil {
		return err
	}
	via := fmt.Sprintf(" via %s dev %s", layout.NodeAddress, layout.HostDevice)
	err := runAll(
		"ip addr add "+layout.HostAddress+"/24 dev "+layout.HostDevice,
		"ip link set "+layout.HostDevice+" up",
		"ip route add "+layout.ServiceNetwork+via,
		"ip route add "+layout.PodNetwork+via,
	)
	if err != nil {
		return err
	}
	if err := forward(uplink); err != nil {
		return err
	}
	return addRules()
}

// forward lets packets pass between the cable and the way out, for these two
// devices only, and keeps what was set before.
func forward(uplink Uplink) error {
	before := changed{Forwarding: map[string]string{}}
	if uplink.Device != "" {
		name := forwarding(uplink.Device)
		value, err := os.ReadFile(sysctlPath(name))
		if err != nil {
			return err
		}
		before.Forwarding[uplink.Device] = strings.TrimSpace(string(value))
	}
	content, err := json.Marshal(before)
	if err != nil {
		return err
	}
	// Written first: if we are killed after the change, it can still be undone.
	if err := layout.Write(layout.HostRecord, content, 0o644); err != nil {
		return err
	}
	for device := range before.Forwarding {
		if err := sysctl(forwarding(device), "1"); err != nil {
			return err
		}
	}
	return sysctl(forwarding(layout.HostDevice), "1")
}

func forwarding(device string) string { return "ipv4/conf/" + device + "/forwarding" }

// Disconnect undoes Connect, and what is left of one that was cut short.
func Disconnect() error {
	var failed []error
	// It also goes by itself some time after the node, perhaps just now.
	if err := runAll("ip link delete " + layout.HostDevice); connected() {
		failed = append(failed, err)
	}
	failed = append(failed, removeRules(), restore())
	return errors.Join(failed...)
}

func restore() error {
	content, err := os.ReadFile(layout.HostRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var before changed
	if err := json.Unmarshal(content, &before); err != nil {
		return err
	}
	for device, value := range before.Forwarding {
		if err := sysctl(forwarding(device), value); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Remove(layout.HostRecord)
}

// Left lists what of ours is still on the machine.
func Left() ([]string, error) {
	var left []string
	if connected() {
		left = append(left, "network device "+layout.HostDevice)
	}
	found, err := routes()
	if err != nil {
		return nil, err
	}
	for _, route := range found {
		if route.Device == layout.HostDevice {
			left = append(left, "route to "+route.Destination)
		}
	}
	rules, err := ourRules()
	for _, rule := range rules {
		left = append(left, "firewall rule: "+strings.Join(rule, " "))
	}
	if _, missing := os.Stat(layout.HostRecord); missing == nil {
		left = append(left, "changed settings noted in "+layout.HostRecord)
	}
	return left, err
}

func connected() bool {
	_, err := os.Stat(filepath.Join("/sys/class/net", layout.HostDevice))
	return err == nil
}
