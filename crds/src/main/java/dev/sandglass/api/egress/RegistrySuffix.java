package dev.sandglass.api.egress;

import java.util.Set;

/**
 * Names below which registries sell names to everybody: {@code com}, {@code co.uk}. A guard against an entry that opens
 * far more than meant. Told by its form, since the list that everybody keeps of such names changes every week, and a stale
 * copy would be worse: what it does not know is allowed.
 */
final class RegistrySuffix {

    private static final int COUNTRY = 2;

    private static final Set<String> UNDER_A_COUNTRY = Set.of(
            "ac", "asn", "asso", "co", "com", "edu", "firm", "gen", "go", "gob", "gouv", "gov", "id", "ind", "info",
            "ltd", "me", "mil", "ne", "net", "nhs", "nic", "nom", "or", "org", "plc", "police", "sch", "school");

    private RegistrySuffix() {}

    static boolean is(HostName name) {
        String[] labels = name.value().split("\\.", -1);
        return labels.length == 1
                || (labels.length == 2 && labels[1].length() == COUNTRY && UNDER_A_COUNTRY.contains(labels[0]));
    }
}
