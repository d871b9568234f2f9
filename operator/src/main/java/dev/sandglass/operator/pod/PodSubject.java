package dev.sandglass.operator.pod;

import dev.sandglass.api.PodName;
import dev.sandglass.api.link.LinkKeys;
import dev.sandglass.api.link.LinkSecret;

/**
 * What a pod's names and secrets derive from: its name, its Secret's name and its link keys from both parts, its credential
 * at the egress proxy and its uid from the id alone. A Sandbox's pod has the Sandbox's UID and the number of its incarnation.
 *
 * @param id unique, and never text that a tenant chose
 * @param incarnation number of the pod among those of the same id, from 1
 */
public record PodSubject(String id, int incarnation) {

    /** The name of that pod, and of the Secret that holds its keys. */
    public String name() {
        return new PodName(id, incarnation).text();
    }

    /** The keys of the link to that pod. */
    public LinkKeys linkKeys(LinkSecret secret) {
        return LinkKeys.derive(secret, id, incarnation);
    }
}
