package dev.sandglass.gateway.mcp;

import dev.sandglass.gateway.contract.Contract;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Where the contracts are served: at {@code /mcp} and in one segment below it. */
final class ContractPaths {

    private static final String ROOT = "/mcp";
    private static final String OURS = "sandglass";
    private static final String SEGMENT = "[a-z0-9][a-z0-9-]*";

    // Alone or, as clients write it to proxies, after a host; a slash at its end and a query do no harm.
    private static final Pattern TARGET = Pattern.compile(
            "(?i:https?://[^/?#]*)?" + ROOT + "(?:/(?<segment>" + SEGMENT + "))?/?(?:[?#].*)?", Pattern.DOTALL);

    private final Map<String, Contract> contracts;

    /** Refuses two contracts at one path or of one name, and paths that no target can name. */
    ContractPaths(List<Contract> contracts) {
        this.contracts = contracts.stream().collect(Collectors.toUnmodifiableMap(Contract::path, Function.identity()));
        this.contracts.keySet().stream()
                .filter(path -> (!path.isEmpty() && !path.matches(SEGMENT)) || path.equals(OURS))
                .forEach(odd -> {
                    throw new IllegalArgumentException("No path of a contract: " + odd);
                });
    }

    /** The contract that a request's target names; others may be none that can be parsed. */
    Optional<Contract> at(String target) {
        Matcher matcher = TARGET.matcher(target);
        return matcher.matches()
                ? Optional.ofNullable(contracts.get(
                        Optional.ofNullable(matcher.group("segment")).orElse("")))
                : Optional.empty();
    }

    /** All of them, in no particular order. */
    Collection<Contract> all() {
        return contracts.values();
    }

    /** What audit lines and metrics call a contract: its path, and a word for ours, which has none. */
    static String nameOf(Contract contract) {
        return contract.path().isEmpty() ? OURS : contract.path();
    }

    /** Path of a contract's URL. */
    static String of(Contract contract) {
        return contract.path().isEmpty() ? ROOT : ROOT + "/" + contract.path();
    }
}
