package dev.sandglass.gateway;

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
            .layer("tool")
            .definedBy(ROOT + ".tool")
            .layer("caller")
            .definedBy(ROOT + ".caller")
            .layer("execution")
            .definedBy(ROOT + ".execution")
            .layer("link")
            .definedBy(ROOT + ".link")
            .layer("kubernetes")
            .definedBy(ROOT + ".kubernetes")
            .layer("sandbox")
            .definedBy(ROOT + ".sandbox")
            .layer("port")
            .definedBy(ROOT + ".port")
            .layer("egress")
            .definedBy(ROOT + ".egress")
            .layer("bound")
            .definedBy(ROOT + ".bound")
            .layer("training")
            .definedBy(ROOT + ".training")
            .whereLayer("application")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("mcp")
            .mayOnlyBeAccessedByLayers("application")
            .whereLayer("tool")
            .mayOnlyBeAccessedByLayers("application", "mcp")
            .whereLayer("caller")
            .mayOnlyBeAccessedByLayers("application", "mcp", "tool", "port")
            .whereLayer("port")
            .mayOnlyBeAccessedByLayers("application", "tool")
            .whereLayer("execution")
            .mayOnlyBeAccessedByLayers("application", "mcp", "tool", "port")
            .whereLayer("link")
            .mayOnlyBeAccessedByLayers("application", "execution")
            .whereLayer("egress")
            .mayOnlyBeAccessedByLayers("application", "tool")
            .whereLayer("bound")
            .mayOnlyBeAccessedByLayers("application", "mcp", "port", "execution")
            .whereLayer("bound")
            .mayNotAccessAnyLayer()
            .whereLayer("kubernetes")
            .mayOnlyBeAccessedByLayers("application")
            .whereLayer("training")
            .mayOnlyBeAccessedByLayers("application");

    @ArchTest
    static final ArchRule noCycles =
            SlicesRuleDefinition.slices().matching(ROOT + ".(*)..").should().beFreeOfCycles();

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
    static final ArchRule toolsKnowNoHttp = noClasses()
            .that()
            .resideInAnyPackage(ROOT + ".tool..", ROOT + ".execution..", ROOT + ".sandbox..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.springframework.web..", "org.springframework.http..", "reactor.netty..");

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
            .haveNameMatching(".*\\.(ServiceReplicas|KubernetesSandboxes|KubernetesSettings|LabelledNamespaces)");
}
