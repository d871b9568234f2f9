package dev.sandglass.e2e.contract;

import dev.sandglass.e2e.support.FreshSandboxes;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every row that callers of the systems before us rely on, as {@code contract-rows.yaml} tells it. */
class ContractRowsE2E {

    @RegisterExtension
    static final FreshSandboxes SHARED = FreshSandboxes.perClass();

    @RegisterExtension
    static final FreshSandboxes OWN = FreshSandboxes.perTest();

    private static String shared;

    @BeforeAll
    static void start() {
        shared = SHARED.start();
    }

    static List<ContractTable.Entry> rows() {
        return ContractTable.read().toRun();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("rows")
    void theRowHolds(ContractTable.Entry row) {
        var calls = new ContractCalls(SHARED.agent(), row.own() ? OWN.start(row.config()) : shared);
        row.calls().forEach(calls::make);
    }
}
