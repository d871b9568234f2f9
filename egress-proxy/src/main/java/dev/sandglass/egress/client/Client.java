package dev.sandglass.egress.client;

import dev.sandglass.api.egress.EgressRules;

/**
 * A sandbox that may use the proxy now.
 *
 * @param uid UID of the resource; another sandbox of the same name is another client
 * @param subject the id from which the credential of its pod derives: the seat id of a pod that was a seat, else the UID
 * @param namespace Kubernetes namespace of the resource
 * @param sandbox name of the resource
 * @param rules its {@code allowedDomains} as they are now, or the installation's list if it has none
 */
public record Client(String uid, String subject, String namespace, String sandbox, EgressRules rules) {}
