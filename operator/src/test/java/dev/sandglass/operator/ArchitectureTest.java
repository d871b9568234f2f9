package dev.sandglass.operator;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.install.InstallSecrets;
import dev.sandglass.operator.pod.PodShape;
import dev.sandglass.operator.settings.TenantNamespaces;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** The rooms of the operator, and what each must not know. */
@AnalyzeClasses(packages = "dev.sandglass.operator", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String SHELL = "dev.sandglass.operator";
    private static final String[] PURE = {room("settings"), room("pod"), room("child"), room("lifecycle")};

    private static String room(String name) {
        return SHELL + "." + name + "..";
    }

    /** Each room may use those that its line names, and every class is in one of them. */
    @ArchTest
    static final ArchRule theRoomsUseEachOtherInOneDirection = layeredArchitecture()
            .consideringOnlyDependenciesInLayers()
            .ensureAllClassesAreContainedInArchitecture()
            .layer("shell")
            .definedBy(SHELL)
            .layer("install")
            .definedBy(room("install"))
            .layer("sandbox")
            .definedBy(room("sandbox"))
            .layer("toolserver")
            .definedBy(room("toolserver"))
            .layer("pool")
            .definedBy(room("pool"))
            .layer("watch")
            .definedBy(room("watch"))
            .layer("write")
            .definedBy(room("write"))
            .layer("metrics")
            .definedBy(room("metrics"))
            .layer("leader")
            .definedBy(room("leader"))
            .layer("lifecycle")
            .definedBy(room("lifecycle"))
            .layer("child")
            .definedBy(room("child"))
            .layer("pod")
            .definedBy(room("pod"))
            .layer("settings")
            .definedBy(room("settings"))
            .whereLayer("shell")
            .mayOnlyAccessLayers(
                    "sandbox",
                    "toolserver",
                    "pool",
                    "watch",
                    "write",
                    "metrics",
                    "leader",
                    "lifecycle",
                    "child",
                    "pod",
                    "settings")
            .whereLayer("toolserver")
            .mayOnlyAccessLayers("watch", "write", "metrics", "lifecycle", "child", "settings")
            .whereLayer("pool")
            .mayOnlyAccessLayers("watch", "write", "metrics", "lifecycle", "child", "settings")
            .whereLayer("sandbox")
            .mayOnlyAccessLayers("watch", "write", "metrics", "lifecycle", "child", "pod", "settings")
            .whereLayer("watch")
            .mayOnlyAccessLayers("child", "settings")
            .whereLayer("write")
            .mayOnlyAccessLayers("lifecycle", "child", "pod", "settings")
            .whereLayer("metrics")
            .mayOnlyAccessLayers("lifecycle")
            .whereLayer("lifecycle")
            .mayOnlyAccessLayers("child", "pod", "settings")
            .whereLayer("child")
            .mayOnlyAccessLayers("pod", "settings")
            .whereLayer("pod")
            .mayOnlyAccessLayers("settings")
            .whereLayer("settings")
            .mayNotAccessAnyLayer()
            .whereLayer("leader")
            .mayNotAccessAnyLayer()
            .whereLayer("install")
            .mayNotAccessAnyLayer();

    /** Or a pod that is none's, a seat of a pool or an MCP server's, would need a shape of its own. */
    @ArchTest
    static final ArchRule aPodsShapeDoesNotKnowWhatItIsFor = noClasses()
            .that()
            .resideInAPackage(room("pod"))
            .should()
            .dependOnClassesThat()
            .areAssignableTo(Sandbox.class)
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(SandboxSpec.class);

    /** A second maker of pods would have to be told of every wall that the first one gets. */
    @ArchTest
    static final ArchRule onlyTheShapeMakesPods = noClasses()
            .that()
            .areNotAssignableTo(PodShape.class)
            .should()
            .callConstructor(PodSpecBuilder.class)
            .orShould()
            .callConstructor(PodSpec.class)
            .orShould()
            .callConstructor(ContainerBuilder.class)
            .orShould()
            .callConstructor(PodBuilder.class);

    @ArchTest
    static final ArchRule theOperatorKnowsNeitherMcpNorJupyterNorTheGateway = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.modelcontextprotocol..", "org.zeromq..", "org.springframework..", "dev.sandglass.gateway..");

    @ArchTest
    static final ArchRule childrenAreDescribedWithoutAClientAFrameworkOrAClock = noClasses()
            .that()
            .resideInAnyPackage(PURE)
            .and()
            .areNotAssignableTo(TenantNamespaces.class)
            .should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("io.fabric8.kubernetes.client.KubernetesClient")
            .orShould()
            .dependOnClassesThat()
            .resideInAnyPackage("io.javaoperatorsdk..", "io.micrometer..", "java.net..", "java.nio.file..")
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(InstantSource.class)
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(Clock.class)
            .orShould()
            .callMethod(Instant.class, "now");

    @ArchTest
    static final ArchRule theEnvironmentIsReadInOnePlaceOnly = noClasses()
            .that()
            .areNotAssignableTo(OperatorSettings.class)
            .and()
            .areNotAssignableTo(InstallSecrets.class)
            .should()
            .callMethod(System.class, "getenv")
            .orShould()
            .callMethod(System.class, "getenv", String.class);

    @ArchTest
    static final ArchRule onlyTheMainClassIsPublicInTheShell =
            classes().that().resideInAPackage(SHELL).and().arePublic().should().haveSimpleName("OperatorMain");

    @ArchTest
    static final ArchRule nobodyWaitsOnAThreadOnceTheOperatorRuns = noClasses()
            .that()
            .areNotAssignableTo(OperatorMain.class)
            .should()
            .callMethod(Thread.class, "sleep", long.class)
            .orShould()
            .callMethod(Thread.class, "sleep", Duration.class);
}
