package dev.sandglass.egress;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/** The rooms of the egress proxy, and what each must not know. */
@AnalyzeClasses(packages = "dev.sandglass.egress", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String REQUEST = "dev.sandglass.egress.request..";
    private static final String TLS = "dev.sandglass.egress.tls..";
    private static final String DNS = "dev.sandglass.egress.dns..";
    private static final String NAME = "dev.sandglass.egress.name..";
    private static final String CLIENT = "dev.sandglass.egress.client..";
    private static final String DENIAL = "dev.sandglass.egress.denial..";
    private static final String TUNNEL = "dev.sandglass.egress.tunnel..";
    private static final String AUDIT = "dev.sandglass.egress.audit..";
    private static final String PROXY = "dev.sandglass.egress.proxy..";
    private static final String SPLIT_DNS = "dev.sandglass.egress.splitdns..";

    @ArchTest
    static final ArchRule noCycles = SlicesRuleDefinition.slices()
            .matching("dev.sandglass.egress.(**)")
            .should()
            .beFreeOfCycles();

    /** From the outside in: what accepts connections knows what carries them, and not the reverse. */
    @ArchTest
    static final ArchRule connectionsUseTunnels = noClasses()
            .that()
            .resideInAnyPackage(TUNNEL, AUDIT)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(PROXY, SPLIT_DNS);

    @ArchTest
    static final ArchRule theProxyWorksWithoutSplitDns = noClasses()
            .that()
            .resideInAPackage(PROXY)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(SPLIT_DNS);

    @ArchTest
    static final ArchRule theProxyKnowsNeitherMcpNorTheOtherPrograms = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.modelcontextprotocol..",
                    "org.springframework..",
                    "dev.sandglass.gateway..",
                    "dev.sandglass.operator..");

    @ArchTest
    static final ArchRule whatReadsHostileBytesIsPure = noClasses()
            .that()
            .resideInAnyPackage(REQUEST, TLS, DNS)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.netty..",
                    "io.fabric8..",
                    "java.net..",
                    "java.nio.file..",
                    NAME,
                    CLIENT,
                    DENIAL,
                    TUNNEL,
                    AUDIT,
                    PROXY,
                    SPLIT_DNS);

    @ArchTest
    static final ArchRule whoAsksIsNoBusinessOfSockets = noClasses()
            .that()
            .resideInAPackage(CLIENT)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.netty..", REQUEST, TLS, NAME, DENIAL, TUNNEL, AUDIT, PROXY, SPLIT_DNS);

    @ArchTest
    static final ArchRule denialsAreToldAndDecideNothing = noClasses()
            .that()
            .resideInAPackage(DENIAL)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(TLS, NAME, CLIENT, TUNNEL, AUDIT, PROXY, SPLIT_DNS);

    @ArchTest
    static final ArchRule theTunnelsDoNotKnowKubernetes = noClasses()
            .that()
            .resideInAnyPackage(TUNNEL, AUDIT, PROXY, SPLIT_DNS)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.fabric8..");

    @ArchTest
    static final ArchRule namesAreLookedUpInOnePlaceOnly = noClasses()
            .should()
            .callMethod(InetAddress.class, "getByName", String.class)
            .orShould()
            .callMethod(InetAddress.class, "getAllByName", String.class)
            .orShould()
            .callConstructor(InetSocketAddress.class, String.class, int.class);

    @ArchTest
    static final ArchRule nobodyWaitsOnAThread = noClasses()
            .should()
            .callMethod(Thread.class, "sleep", long.class)
            .orShould()
            .callMethod(Thread.class, "sleep", Duration.class);
}
