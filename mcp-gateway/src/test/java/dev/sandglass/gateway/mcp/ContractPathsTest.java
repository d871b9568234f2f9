package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.gateway.contract.Contract;
import dev.sandglass.gateway.contract.Offer;
import dev.sandglass.gateway.contract.Query;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which contract a request's target names. */
class ContractPathsTest {

    private record At(String path) implements Contract {
        @Override
        public Offer offer(Query query) {
            return new Offer("name", "Title", "", List.of(), List.of(), false);
        }
    }

    private final ContractPaths paths = new ContractPaths(List.of(new At(""), new At("cell")));

    @ParameterizedTest
    @ValueSource(
            strings = {"/mcp/cell", "/mcp/cell/", "/mcp/cell?wait=4", "/mcp/cell/?a#b", "https://gw:8080/mcp/cell?a"})
    void oneBelowIt(String target) {
        assertThat(paths.at(target)).map(Contract::path).contains("cell");
    }

    @Test
    void ourContractHasAName() {
        assertThat(ContractPaths.nameOf(new At(""))).isEqualTo("sandglass");
        assertThat(ContractPaths.nameOf(new At("cell"))).isEqualTo("cell");
    }

    @Test
    void twoAtOnePathAndPathsThatNoTargetNamesAreRefused() {
        List<Contract> twice = List.of(new At("cell"), new At("cell"));
        assertThatThrownBy(() -> new ContractPaths(twice)).isInstanceOf(IllegalStateException.class);
        for (String odd : List.of("Cell", "a/b", "-", "a b", "%61", "sandglass")) {
            assertThatThrownBy(() -> new ContractPaths(List.of(new At(odd))))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/mcp",
                "/mcp/",
                "/mcp?wait=4",
                "/mcp?a=[b]|{c}%",
                "/mcp/?a",
                "http://gw:8080/mcp",
                "HTTPS://gw/mcp?a"
            })
    void theEndpoint(String target) {
        assertThat(paths.at(target)).map(Contract::path).contains("");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "",
                "*",
                "/mcp/x",
                "/mcp/CELL",
                "/mcp/cellx",
                "/mcp/cell/x",
                "/mcp//cell",
                "/mcp/cell//",
                "/mcp/%63ell",
                "/mcpx",
                "/x/mcp",
                "/x?/mcp",
                "/[slug]",
                "/%",
                "/x{y}|^\\",
                "http://gw",
                "ftp://gw/mcp",
                "gw:443"
            })
    void otherTargets(String target) {
        assertThat(paths.at(target)).isEmpty();
    }
}
