package dev.sandglass.api;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The packages of the API, and what each must not know. */
@AnalyzeClasses(packages = "dev.sandglass.api", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String ROOT = "dev.sandglass.api";

    @ArchTest
    static final ArchRule keysKnowNothingElseOfOurs = importsNothingElse("link");

    @ArchTest
    static final ArchRule namesKnowNothingElseOfOurs = importsNothingElse("name");

    @ArchTest
    static final ArchRule domainRulesKnowNoSandbox = noClasses()
            .that()
            .resideInAPackage(ROOT + ".egress")
            .should()
            .dependOnClassesThat(resideInAPackage("dev.sandglass..")
                    .and(not(resideInAPackage(ROOT + ".egress")))
                    .and(not(assignableTo(ForeignText.class))));

    @ArchTest
    static final ArchRule theResourceKnowsNeitherKeysNorWatches = noClasses()
            .that()
            .resideInAPackage(ROOT)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(ROOT + ".link", ROOT + ".watch");

    private static ArchRule importsNothingElse(String name) {
        String own = ROOT + "." + name;
        return noClasses()
                .that()
                .resideInAPackage(own)
                .should()
                .dependOnClassesThat(resideInAPackage("dev.sandglass..").and(not(resideInAPackage(own))));
    }
}
