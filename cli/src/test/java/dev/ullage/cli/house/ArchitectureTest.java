package dev.ullage.cli.house;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.lang.ArchRule;
import dev.ullage.common.protocol.WireMessage;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** docs/architecture.md, "Layout": who may know whom, in all modules at once. */
final class ArchitectureTest {
    /** They decide, so they take the time, ids and seeds as arguments, log nothing, and know no library. */
    private static final String[] PURE = {
        "dev.ullage.common.model..",
        "dev.ullage.common.ledger..",
        "dev.ullage.coordinator.view..",
        "dev.ullage.coordinator.planning..",
        "dev.ullage.coordinator.decisions..",
        "dev.ullage.coordinator.oom..",
        "dev.ullage.coordinator.admission..",
        "dev.ullage.coordinator.rollout..",
        "dev.ullage.coordinator.simulation..",
        "dev.ullage.coordinator.leadership..",
        "dev.ullage.worker.watch..",
        "dev.ullage.coordinator.events..",
        "dev.ullage.worker.enforcement.."
    };

    /** Classes besides {@code *Main} that touch the outside world's clock, dice or environment, and why they must. */
    private static final Set<String> ADAPTERS = Set.of(
            // The edge of the process: what the user's shell gave it.
            "dev.ullage.cli.CliEnvironment",
            // How long the demo runs is what it is asked for.
            "dev.ullage.cli.demo.DemoClock",
            // The clock itself.
            "dev.ullage.cli.node.SteadyClock",
            // A coordinator's uid must differ from every other's, ever.
            "dev.ullage.cli.node.UllageNode");

    private static final Map<String, Set<String>> OUTSIDE_WORLD = Map.of(
            "java.time.Instant", Set.of("now"),
            "java.time.LocalDateTime", Set.of("now"),
            "java.time.ZonedDateTime", Set.of("now"),
            "java.lang.System", Set.of("nanoTime", "currentTimeMillis", "getenv"),
            "java.lang.Math", Set.of("random"),
            "java.lang.Thread", Set.of("sleep"),
            "java.util.Random", Set.of("<init>"),
            "java.util.UUID", Set.of("randomUUID"),
            "java.util.concurrent.ThreadLocalRandom", Set.of("current"));

    private static final Map<String, Set<String>> NO_DEFINED_ORDER = Map.of(
            "java.util.HashMap", Set.of("<init>"),
            "java.util.HashSet", Set.of("<init>"),
            "java.util.concurrent.ConcurrentHashMap", Set.of("<init>"),
            "java.util.stream.Collectors", Set.of("toSet", "toUnmodifiableSet"));

    private static JavaClasses main = new ClassFileImporter().importClasses();

    @BeforeAll
    static void readMainClasses() {
        main = new ClassFileImporter()
                .withImportOption(ArchitectureTest::isMain)
                .importPackages("dev.ullage");
        assertThat(main).isNotEmpty();
    }

    @Test
    void dependenciesPointOneWay() {
        check(layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .withOptionalLayers(true)
                .layer("common")
                .definedBy("dev.ullage.common..")
                .layer("config")
                .definedBy("dev.ullage.config..")
                .layer("worker")
                .definedBy("dev.ullage.worker..")
                .layer("coordinator")
                .definedBy("dev.ullage.coordinator..")
                .layer("cli")
                .definedBy("dev.ullage.cli..")
                .whereLayer("cli")
                .mayNotBeAccessedByAnyLayer()
                .whereLayer("worker")
                .mayOnlyBeAccessedByLayers("cli")
                .whereLayer("coordinator")
                .mayOnlyBeAccessedByLayers("cli")
                .whereLayer("config")
                .mayOnlyBeAccessedByLayers("worker", "coordinator", "cli"));
    }

    @Test
    void packagesHaveNoCycles() {
        check(slices().matching("dev.ullage.(*).(*)..").should().beFreeOfCycles());
    }

    @Test
    void modelAndLedgerKnowOnlyTheJdk() {
        check(classes()
                .that()
                .resideInAnyPackage("dev.ullage.common.model..", "dev.ullage.common.ledger..")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "java..",
                        "org.jspecify.annotations..",
                        "com.google.errorprone.annotations..",
                        "dev.ullage.common.model..",
                        "dev.ullage.common.ledger.."));
        check(noClasses()
                .that()
                .resideInAPackage("dev.ullage.common.model..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.ullage.common.ledger.."));
    }

    @Test
    void pureCodeKnowsNoLibrary() {
        check(noClasses()
                .that()
                .resideInAnyPackage(PURE)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "org.apache.pekko..",
                        "org.slf4j..",
                        "ch.qos.logback..",
                        "com.sun.jna..",
                        "jcuda..",
                        "com.fasterxml.jackson..",
                        "com.typesafe.config..",
                        "java.io..",
                        "java.net..",
                        "java.nio.file..",
                        "java.nio.channels.."));
    }

    // They take wire messages, which name references, but never touch one: the simulation runs them as they are.
    @Test
    void whatActorsDecideKnowsNoActorAndNoLog() {
        check(noClasses()
                .that()
                .haveSimpleNameEndingWith("Logic")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.apache.pekko..", "org.slf4j..", "ch.qos.logback..", "java.io..", "java.nio..")
                .orShould()
                .dependOnClassesThat()
                .haveFullyQualifiedName("java.time.Clock"));
    }

    @Test
    void pureCodeIteratesInADefinedOrder() {
        check(noClasses().that().resideInAnyPackage(PURE).should().accessTargetWhere(uses(NO_DEFINED_ORDER)));
    }

    @Test
    void timeRandomnessAndEnvironmentComeInAsArguments() {
        check(noClasses()
                .that(DescribedPredicate.not(isMainClassOrAdapter()))
                .should()
                .accessTargetWhere(uses(OUTSIDE_WORLD)));
    }

    @Test
    void pureCodeHasNoClockEither() {
        check(noClasses()
                .that()
                .resideInAnyPackage(PURE)
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName("java.time.Clock")
                .orShould()
                .dependOnClassesThat()
                .haveFullyQualifiedName("java.time.InstantSource"));
    }

    @Test
    void onlyTheCommandLinePrints() {
        NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS
                .allowEmptyShould(true)
                .check(main.that(DescribedPredicate.not(JavaClass.Predicates.resideInAPackage("dev.ullage.cli.."))));
    }

    @Test
    void messagesAreRecords() {
        check(classes()
                .that()
                .implement(WireMessage.class)
                .and()
                .areNotInterfaces()
                .should()
                .beRecords());
    }

    // Goal: no test that surefire and failsafe overlook. Method: read the compiled tests of every module.
    @Test
    void testsAreNamedSoThatTheyRun() {
        JavaClasses tests = new ClassFileImporter().importPaths(Checkout.testClasses());
        Set<String> overlooked = new TreeSet<>();
        for (JavaClass test : tests) {
            if (hasTests(test) && !outermost(test).getSimpleName().matches(".*(Test|IT)")) {
                overlooked.add(test.getName());
            }
        }
        assertThat(tests).isNotEmpty();
        assertThat(overlooked)
                .as("classes with tests that end neither in Test nor in IT")
                .isEmpty();
    }

    private static void check(ArchRule rule) {
        rule.allowEmptyShould(true).check(main);
    }

    private static boolean isMain(Location location) {
        return !location.contains("/test-classes/") && !location.contains("-tests.jar");
    }

    private static DescribedPredicate<JavaClass> isMainClassOrAdapter() {
        return DescribedPredicate.describe(
                "end in Main or are listed adapters",
                javaClass -> outermost(javaClass).getSimpleName().endsWith("Main")
                        || ADAPTERS.contains(outermost(javaClass).getName()));
    }

    /** Calls and method references alike. */
    private static DescribedPredicate<JavaAccess<?>> uses(Map<String, Set<String>> members) {
        return DescribedPredicate.describe("the target is one of " + members, access -> members.getOrDefault(
                        access.getTargetOwner().getName(), Set.of())
                .contains(access.getTarget().getName()));
    }

    private static boolean hasTests(JavaClass javaClass) {
        return javaClass.getMethods().stream()
                .flatMap(method -> method.getAnnotations().stream())
                .map(annotation -> annotation.getRawType())
                .anyMatch(type -> type.getName().startsWith("org.junit.jupiter.api.Test")
                        || type.getName().equals("org.junit.jupiter.api.RepeatedTest")
                        || type.getName().equals("org.junit.jupiter.params.ParameterizedTest")
                        || type.getName().equals("net.jqwik.api.Property")
                        || type.getName().equals("net.jqwik.api.Example"));
    }

    private static JavaClass outermost(JavaClass javaClass) {
        JavaClass outermost = javaClass;
        while (outermost.getEnclosingClass().isPresent()) {
            outermost = outermost.getEnclosingClass().get();
        }
        return outermost;
    }
}
