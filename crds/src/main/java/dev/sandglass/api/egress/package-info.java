/**
 * What {@code allowedDomains} means: the grammar of its entries, the canonical form of what a sandbox asks for, and the
 * verdict. The CRD, the gateway's check of arguments and the egress proxy all use this one, and
 * {@code egress-vectors.yaml} beside it holds the examples that each of them is tested with.
 */
@NullMarked
package dev.sandglass.api.egress;

import org.jspecify.annotations.NullMarked;
