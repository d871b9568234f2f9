package dev.sandglass.operator;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.sandglass.operator.install.InstallSecrets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** The rooms of the operator, and what each must not know. */
@AnalyzeClasses(packages = "dev.sandglass.operator", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String CHILD = "dev.sandglass.operator.child..";
    private static final String LIFECYCLE = "dev.sandglass.operator.lifecycle..";
    private static final String SHELL = "dev.sandglass.operator";

    @ArchTest
    static final ArchRule theOperatorKnowsNeitherMcpNorJupyterNorTheGateway = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.modelcontextprotocol..", "org.zeromq..", "org.springframework..", "dev.sandglass.gateway..");

    @ArchTest
    static final ArchRule childrenAreDescribedWithoutAClientAFrameworkOrAClock = noClasses()
            .that()
            .resideInAnyPackage(CHILD, LIFECYCLE)
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
    static final ArchRule childrenDoNotKnowTheLifecycle = noClasses()
            .that()
            .resideInAPackage(CHILD)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(LIFECYCLE, SHELL);

    @ArchTest
    static final ArchRule theLifecycleDoesNotKnowTheShell = noClasses()
            .that()
            .resideInAPackage(LIFECYCLE)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(SHELL);

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
