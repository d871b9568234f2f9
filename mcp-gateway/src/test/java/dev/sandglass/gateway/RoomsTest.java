package dev.sandglass.gateway;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.Architectures;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The rooms of the gateway and the directions between them. */
@AnalyzeClasses(packages = "dev.sandglass.gateway", importOptions = ImportOption.DoNotIncludeTests.class)
class RoomsTest {

    private static final String ROOT = "dev.sandglass.gateway";

    @ArchTest
    static final ArchRule directions = Architectures.layeredArchitecture()
            .consideringOnlyDependenciesInAnyPackage(ROOT + "..")
            .layer("application")
            .definedBy(ROOT)
            .layer("mcp")
            .definedBy(ROOT + ".mcp")
            .layer("contract.sandglass")
            .definedBy(ROOT + ".contract.sandglass..")
            .layer("contract.dropin")
            .definedBy(ROOT + ".contract.dropin..")
            .layer("contract.config")
            .definedBy(ROOT + ".contract.config")
            .layer("contract")
            .definedBy(ROOT + ".contract")
            .layer("action")
            .definedBy(ROOT + ".action")
            .layer("adoption")
            .definedBy(ROOT + ".adoption")
            .layer("caller")
            .definedBy(ROOT + ".caller")
            .layer("execution")
            .definedBy(ROOT + ".execution")
            .layer("output")
            .definedBy(ROOT + ".output")
            .layer("toolserver")
            .definedBy(ROOT + ".toolserver")
            .layer("toolcall")
            .definedBy(ROOT + ".toolcall")
            .layer("file")
            .definedBy(ROOT + ".file")
            .layer("link")
            .definedBy(ROOT + ".link")
            .layer("link.call")
            .definedBy(ROOT + ".link.call")
            .layer("link.frame")
            .definedBy(ROOT + ".link.frame")
            .layer("zmtp")
            .definedBy(ROOT + ".zmtp")
            .layer("kubernetes")
            .definedBy(ROOT + ".kubernetes")
            .layer("sandbox")
            .definedBy(ROOT + ".sandbox")
            .layer("port")
            .definedBy(ROOT + ".port")
            .layer("port.message")
            .definedBy(ROOT + ".port.message")
            .layer("websocket")
            .definedBy(ROOT + ".websocket")
            .layer("egress")
            .definedBy(ROOT + ".egress")
            .layer("http")
            .definedBy(ROOT + ".http")
            .layer("quota")
            .definedBy(ROOT + ".quota")
            .whereLayer("application")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("mcp")
            .mayOnlyBeAccessedByLayers("application")
            .whereLayer("contract.sandglass")
            .mayOnlyBeAccessedByLayers("application")
            .whereLayer("contract.dropin")
            .mayOnlyBeAccessedByLayers("application")
            .whereLayer("contract.config")
            .mayOnlyBeAccessedByLayers("contract.sandglass", "contract.dropin")
            .whereLayer("contract")
            .mayOnlyBeAccessedByLayers("application", "mcp", "contract.sandglass", "contract.dropin", "contract.config")
            .whereLayer("action")
            .mayOnlyBeAccessedByLayers("application", "contract", "contract.sandglass", "contract.dropin")
            .whereLayer("adoption")
            .mayOnlyBeAccessedByLayers("application")
            .whereLayer("caller")
            .mayOnlyBeAccessedByLayers(
                    "application",
                    "mcp",
                    "contract",
                    "contract.sandglass",
                    "contract.dropin",
                    "action",
                    "kubernetes",
                    "port")
            .whereLayer("port")
            .mayOnlyBeAccessedByLayers("application", "contract.sandglass")
            .whereLayer("websocket")
            .mayOnlyBeAccessedByLayers("application", "port")
            .whereLayer("port.message")
            .mayOnlyBeAccessedByLayers("application", "port", "websocket")
            .whereLayer("execution")
            .mayOnlyBeAccessedByLayers(
                    "application",
                    "mcp",
                    "contract",
                    "contract.sandglass",
                    "contract.dropin",
                    "action",
                    "adoption",
                    "port",
                    "file")
            .whereLayer("file")
            .mayOnlyBeAccessedByLayers("application", "contract.sandglass", "action")
            .whereLayer("toolserver")
            .mayOnlyBeAccessedByLayers(
                    "application",
                    "contract.config",
                    "contract.sandglass",
                    "contract.dropin",
                    "action",
                    "execution",
                    "toolcall",
                    "kubernetes",
                    "link.frame")
            .whereLayer("toolserver")
            .mayNotAccessAnyLayer()
            .whereLayer("toolcall")
            .mayOnlyBeAccessedByLayers("application", "action")
            .whereLayer("output")
            .mayOnlyBeAccessedByLayers(
                    "application", "contract", "contract.sandglass", "contract.dropin", "action", "execution", "file")
            .whereLayer("link")
            .mayOnlyBeAccessedByLayers("application", "execution", "file", "toolcall")
            .whereLayer("link.call")
            .mayOnlyBeAccessedByLayers("application", "link", "toolcall")
            .whereLayer("link.frame")
            .mayOnlyBeAccessedByLayers("application", "execution", "output", "file", "link", "link.call", "toolcall")
            .whereLayer("zmtp")
            .mayOnlyBeAccessedByLayers("link")
            .whereLayer("egress")
            .mayOnlyBeAccessedByLayers("application", "contract.sandglass", "contract.dropin", "action", "toolcall")
            .whereLayer("http")
            .mayOnlyBeAccessedByLayers("application", "mcp", "port", "port.message", "websocket")
            .whereLayer("quota")
            .mayOnlyBeAccessedByLayers(
                    "application", "mcp", "execution", "output", "file", "toolcall", "http", "websocket")
            .whereLayer("quota")
            .mayNotAccessAnyLayer()
            .whereLayer("zmtp")
            .mayNotAccessAnyLayer()
            .whereLayer("kubernetes")
            .mayOnlyBeAccessedByLayers("application");

    @ArchTest
    static final ArchRule noCycles =
            SlicesRuleDefinition.slices().matching(ROOT + ".(**)").should().beFreeOfCycles();

    /** The protocol on the wire is read and attacked alone. */
    @ArchTest
    static final ArchRule zmtpImportsNothingOfOurs = noClasses()
            .that()
            .resideInAPackage(ROOT + ".zmtp")
            .should()
            .dependOnClassesThat(resideInAPackage("dev.sandglass..").and(not(resideInAPackage(ROOT + ".zmtp"))));

    @ArchTest
    static final ArchRule linkIsPlain = noClasses()
            .that()
            .resideInAPackage(ROOT + ".link..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.springframework..", "reactor..", "io.fabric8..", "dev.sandglass.gateway.mcp..");

    @ArchTest
    static final ArchRule onlyOneRoomKnowsKubernetes = noClasses()
            .that()
            .resideOutsideOfPackages(ROOT + ".kubernetes..", ROOT)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.fabric8..");

    @ArchTest
    static final ArchRule contractsKnowNoHttp = noClasses()
            .that()
            .resideInAnyPackage(ROOT + ".contract..", ROOT + ".action..", ROOT + ".execution..", ROOT + ".sandbox..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.springframework.web..", "org.springframework.http..", "reactor.netty..");

    @ArchTest
    static final ArchRule useCasesRenderNothing = noClasses()
            .that()
            .resideInAPackage(ROOT + ".action..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("tools.jackson..", "com.fasterxml.jackson..", "org.springframework..");

    @ArchTest
    static final ArchRule settingsComeThroughTheDoor = noClasses()
            .should()
            .callMethod(System.class, "getenv", String.class)
            .orShould()
            .callMethod(System.class, "getenv")
            .orShould()
            .callMethod(System.class, "getProperty", String.class);

    @ArchTest
    static final ArchRule nothingWaitsByBlocking = noClasses()
            .should()
            .callMethod(Mono.class, "block")
            .orShould()
            .callMethod(Mono.class, "block", java.time.Duration.class)
            .orShould()
            .callMethod(Flux.class, "blockLast")
            .orShould()
            .callMethod(Flux.class, "blockFirst")
            .orShould()
            .callMethod(Thread.class, "sleep", long.class)
            .orShould()
            .callMethod(Thread.class, "sleep", java.time.Duration.class);

    @ArchTest
    static final ArchRule doorsAreFew = classes()
            .that()
            .resideInAPackage(ROOT + ".kubernetes")
            .and()
            .arePublic()
            .should()
            .haveNameMatching(
                    ".*\\.(AbandonedServers|ServiceReplicas|KubernetesAgentServers|KubernetesHandshakeNotes|KubernetesSandboxes|KubernetesSettings|LabelledNamespaces|OnDemandNamespaces|SharedToolServers)");
}
