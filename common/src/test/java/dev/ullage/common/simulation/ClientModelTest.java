package dev.ullage.common.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.simulation.ClientModel.InForce;
import dev.ullage.common.simulation.ClientModel.Plan;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The model does what the rank client does: {@code rank-client-cases.json} says it once for both. Each case is a list
 * of steps and of what is so after each.
 */
class ClientModelTest {
    private static final String CASES = "/rank-client-cases.json";
    private static final RankInstance SELF = new RankInstance(new RankId(new JobId("job"), 0), 100, 1);

    @TestFactory
    Stream<DynamicTest> behavesAsTheRankClientDoes() throws IOException {
        try (InputStream file = Objects.requireNonNull(ClientModelTest.class.getResourceAsStream(CASES))) {
            JsonNode cases = new ObjectMapper().readTree(file);
            assertThat(cases).hasSizeGreaterThan(15);
            return StreamSupport.stream(cases.spliterator(), false)
                    .map(one -> DynamicTest.dynamicTest(one.get("rule").asText(), () -> run(one)));
        }
    }

    private static void run(JsonNode one) {
        JsonNode before = one.get("inForce");
        ClientModel client = before.isNull()
                ? new ClientModel()
                : new ClientModel(
                        SELF,
                        new InForce(
                                before.get(0).asLong(),
                                MemoryBytes.of(before.get(1).asLong())));
        for (JsonNode step : one.get("steps")) {
            Map<String, String> now = after(step, client);
            step.get("expect").properties().forEach(expected -> assertThat(now)
                    .as("after %s", step)
                    .containsEntry(expected.getKey(), text(expected.getValue())));
        }
    }

    private static String text(JsonNode expected) {
        return expected.isTextual() ? expected.asText() : expected.toString();
    }

    private static Map<String, String> after(JsonNode step, ClientModel client) {
        Map<String, String> now = new LinkedHashMap<>();
        switch (step.get("do").asText()) {
            case "receive" -> now.put("receipt", client.receive(order(step)).name());
            case "settle" -> {
                Optional<Plan> plan = client.plan(held(step));
                now.put("plan", plan.map(Plan::toString).orElse("null"));
                plan.ifPresent(some -> now.put("told", Boolean.toString(client.commit(some))));
            }
            case "enter" -> client.enter(Phase.valueOf(step.get("phase").asText()));
            case "take" ->
                client.takeTurn(
                        MemoryBytes.of(step.get("bytes").asLong()),
                        StreamSupport.stream(step.get("phases").spliterator(), false)
                                .map(phase -> Phase.valueOf(phase.asText()))
                                .collect(Collectors.toSet()));
            case "end" -> now.put("ended", Boolean.toString(client.endTurn(held(step))));
            case "reconnect" -> client.forgetPending();
            case "look" -> {}
            default -> throw new IllegalArgumentException("unknown step " + step);
        }
        now.put(
                "inForce",
                client.inForce()
                        .map(inForce ->
                                "[" + inForce.sequence() + "," + inForce.limit().value() + "]")
                        .orElse("null"));
        now.put(
                "limit",
                client.limit().map(limit -> Long.toString(limit.value())).orElse("null"));
        now.put("newest", Long.toString(client.newestSequence()));
        now.put("turn", Long.toString(client.turn().value()));
        now.put("pending", Boolean.toString(client.isPending()));
        now.put("needsSettling", Boolean.toString(client.needsSettling()));
        now.put("limits", client.limits().map(ClientModelTest::inEachPhase).orElse("null"));
        return now;
    }

    private static Optional<MemoryBytes> held(JsonNode step) {
        return Optional.of(step.get("held")).filter(held -> !held.isNull()).map(held -> MemoryBytes.of(held.asLong()));
    }

    private static Order order(JsonNode step) {
        long limit = step.get("limit").asLong();
        JsonNode inPhase = step.path("inPhase");
        return new Order(
                SELF,
                step.get("sequence").asLong(),
                PhaseLimits.of(
                        phase -> MemoryBytes.of(inPhase.path(phase.name()).asLong(limit))));
    }

    private static String inEachPhase(PhaseLimits limits) {
        return Arrays.toString(Arrays.stream(Phase.values())
                        .mapToLong(phase -> limits.in(phase).value())
                        .toArray())
                .replace(" ", "");
    }
}
