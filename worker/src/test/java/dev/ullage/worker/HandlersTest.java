package dev.ullage.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.worker.limits.LimitKeeper;
import dev.ullage.worker.ranks.RankSession;
import dev.ullage.worker.sampling.Sampler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Java 17 has no switch over sealed types, so the compiler does not see a forgotten message: each one that an actor
 * permits is named in its {@code createReceive}. Reads the source, because a typed {@code Receive} hides its handlers.
 */
class HandlersTest {
    private static final Path SOURCES = Path.of("src/main/java");

    static Stream<Class<?>> actors() {
        return Stream.of(WorkerHub.class, LimitKeeper.class, RankSession.class, Sampler.class);
    }

    @ParameterizedTest
    @MethodSource("actors")
    void everyMessageOfAnActorHasAHandler(Class<?> actor) throws IOException {
        String source = Files.readString(SOURCES.resolve(actor.getName().replace('.', '/') + ".java"));
        Class<?> command = Stream.of(actor.getDeclaredClasses())
                .filter(nested -> nested.getSimpleName().equals("Command"))
                .findFirst()
                .orElseThrow();

        assertThat(List.of(command.getPermittedSubclasses())).isNotEmpty().allSatisfy(message -> {
            String name = message.getSimpleName();
            assertThat(source)
                    .containsAnyOf(".onMessage(" + name + ".class, ", ".onMessageEquals(" + name + ".INSTANCE, ");
        });
    }
}
