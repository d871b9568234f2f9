package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	provisioner "sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// provisionerName is what the StorageClass names.
const provisionerName = "sandglass.dev/local-volumes"

// provideVolumes makes a folder of the node for each claim.
func provideVolumes(ctx context.Context, given settings) error {
	client, err := given.client()
	if err != nil {
		return err
	}
	// Folders made for the cluster are to have the rights written below.
	syscall.Umask(0)
	folders := localVolumes{root: given.volumes, node: given.node}
	provisioner.NewProvisionController(ctx, client, provisionerName, folders,
		provisioner.LeaderElection(false), provisioner.MetricsPort(0)).Run(ctx)
	return nil
}

type localVolumes struct {
	root, node string
}

// Provision makes the folder and describes it. The kind "local" and not
// "hostPath", because the kubelet gives only the former to a pod's fsGroup.
func (l localVolumes) Provision(_ context.Context, options provisioner.ProvisionOptions) (*v1.PersistentVolume, provisioner.ProvisioningState, error) {
	folder := filepath.Join(l.root, options.PVName)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, provisioner.ProvisioningFinished, err
	}
	volume := &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: options.PVName},
		Spec: v1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *options.StorageClass.ReclaimPolicy,
			AccessModes:                   options.PVC.Spec.AccessModes,
			VolumeMode:                    options.PVC.Spec.VolumeMode,
			MountOptions:                  options.StorageClass.MountOptions,
			Capacity:                      v1.ResourceList{v1.ResourceStorage: options.PVC.Spec.Resources.Requests[v1.ResourceStorage]},
			PersistentVolumeSource:        v1.PersistentVolumeSource{Local: &v1.LocalVolumeSource{Path: folder}},
			NodeAffinity:                  l.onlyHere(),
		},
	}
	return volume, provisioner.ProvisioningFinished, nil
}

// Delete removes the folder with all that is in it.
func (l localVolumes) Delete(_ context.Context, volume *v1.PersistentVolume) error {
	if volume.Spec.Local == nil || filepath.Dir(volume.Spec.Local.Path) != l.root {
		return fmt.Errorf("volume %s is not a folder in %s", volume.Name, l.root)
	}
	return os.RemoveAll(volume.Spec.Local.Path)
}

func (l localVolumes) onlyHere() *v1.VolumeNodeAffinity {
	return &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
		MatchExpressions: []v1.NodeSelectorRequirement{{
			Key: v1.LabelHostname, Operator: v1.NodeSelectorOpIn, Values: []string{l.node},
		}},
	}}}}
}
