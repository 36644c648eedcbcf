package dev.ullage.coordinator.oom;

import static dev.ullage.coordinator.Fixtures.JOB;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.TOKEN;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.mib;
import static dev.ullage.coordinator.Fixtures.rank;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.OomKind;
import dev.ullage.common.model.OomLevel;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.JobReport;
import dev.ullage.common.protocol.JobReport.Applied;
import dev.ullage.common.protocol.OomReport;
import dev.ullage.common.protocol.OomReport.Figures;
import dev.ullage.common.protocol.OomReport.Means;
import dev.ullage.common.protocol.ToCoordinator.JobsReported;
import dev.ullage.common.protocol.ToOperator.OomMove;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** One out-of-memory error, one decision: the desk with a worker for every two ranks. */
class OomDeskTest {
    private static final Duration RESEND = Duration.ofSeconds(1);
    private static final int RANKS = 4;

    private final NavigableMap<RankInstance, OomReport> pending = new TreeMap<>();
    private final NavigableMap<RankInstance, Applied> applied = new TreeMap<>();
    private final NavigableMap<NodeId, JobDirective> held = new TreeMap<>();
    private final List<JobDirective> decided = new ArrayList<>();
    private Optional<CoordinatorToken> obeyed = Optional.of(TOKEN);
    private OomDesk desk = OomDesk.EMPTY;
    private Instant now = T0;

    private static JsonNode resource(String name) throws IOException {
        try (InputStream file = OomDeskTest.class.getResourceAsStream("/cases/" + name)) {
            return new ObjectMapper().readTree(file);
        }
    }

    private static NodeId node(int rank) {
        return new NodeId("host-" + rank / 2);
    }

    private void report(NodeId node) {
        List<RankInstance> ranks = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
            if (node(rank).equals(node)) {
                ranks.add(rank(rank));
            }
        }
        JobReport report = new JobReport(
                JOB,
                OptionalInt.of(RANKS),
                ranks,
                Optional.ofNullable(held.get(node)),
                pending.values().stream()
                        .filter(one -> ranks.contains(one.instance()))
                        .toList(),
                applied.values().stream()
                        .filter(one -> ranks.contains(one.instance()))
                        .toList());
        desk = desk.with(new JobsReported(node, obeyed, List.of(report)), now);
    }

    private List<OomDesk.Send> turn() {
        OomDesk.Turn turn = desk.turn(TOKEN, RESEND, now);
        desk = turn.desk();
        decided.addAll(turn.decided());
        return turn.sends();
    }

    /** All workers report, and take what they are sent. */
    private void settle() {
        for (int rank = 0; rank < RANKS; rank += 2) {
            report(node(rank));
        }
        deliver(turn());
    }

    private void deliver(List<OomDesk.Send> sends) {
        for (OomDesk.Send send : sends) {
            held.put(send.worker(), send.directive());
            pending.values()
                    .removeIf(report -> report.sequence() < send.directive().sequence());
            report(send.worker());
        }
    }

    private static OomReport oom(int rank, long sequence, Phase phase, Figures figures, int microBatch, boolean retry) {
        Means means = new Means(OptionalInt.of(microBatch), OptionalInt.of(32), List.of(OomLevel.SIMPLIFY), retry);
        return new OomReport(rank(rank), sequence, 120, phase, OomKind.DEVICE_FULL, figures, means);
    }

    private void ranOut(OomReport report) {
        pending.put(report.instance(), report);
        report(node(report.instance().rank().rank()));
    }

    private static Figures asked(long mebibytes) {
        return new Figures(
                Optional.of(mib(mebibytes)),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    private void play(JsonNode event, boolean retry) {
        if (event.path("ev").asText().equals("oom")) {
            Phase phase = Phase.valueOf(event.path("phase").asText().toUpperCase(Locale.ROOT));
            ranOut(oom(event.path("rank").asInt(), 0, phase, asked(138), 32, retry));
            deliver(turn());
        }
    }

    @Test
    void caseD01OneErrorIsOneDecisionWithOneNumberForAll() throws IOException {
        settle();
        for (JsonNode event : resource("d01.json").path("events")) {
            play(event, true);
        }

        assertThat(decided).hasSize(1);
        assertThat(held.values()).hasSize(2).containsOnly(decided.get(0));
        JobDirective one = decided.get(0);
        assertThat(one.step()).isEqualTo(120);
        assertThat(one.level()).isEqualTo(OomLevel.MICRO_BATCH);
        assertThat(one.sizes()).isEqualTo(new JobDirective.Sizes(OptionalInt.of(16), OptionalInt.of(2)));
        assertThat(one.restart()).isFalse();
        assertThat(one.cause().reason())
                .isEqualTo("rank 3 ran out of memory in FORWARD of step 120: asked for 138.0 MiB (device full); micro"
                        + " batch 32 -> 16");
    }

    @Test
    void caseD01TwoErrorsAtOnceAreOneMoveAndALateDuplicateIsNone() throws IOException {
        settle();
        JsonNode variants = resource("d01.json").path("variants");
        ranOut(oom(3, 0, Phase.FORWARD, asked(138), 32, true));
        ranOut(oom(variants.get(0).path("extra").path("rank").asInt(), 0, Phase.FORWARD, asked(1), 32, true));
        deliver(turn());
        play(variants.get(2).path("extra"), true);
        deliver(turn());

        assertThat(decided).hasSize(1);
    }

    // From the first report to the last rank; the second of two errors is not the start, and the same again no end.
    @Test
    void theTimeOfAMoveEndsWhenTheLastRankHasDoneIt() {
        settle();
        ranOut(oom(3, 0, Phase.FORWARD, asked(138), 32, true));
        now = now.plusMillis(5);
        ranOut(oom(1, 0, Phase.FORWARD, asked(138), 32, true));
        deliver(turn());
        now = now.plusMillis(20);
        for (int rank = 0; rank < RANKS - 1; rank++) {
            applied.put(rank(rank), new Applied(rank(rank), 1, Optional.empty()));
        }
        settle();
        assertThat(desk.status(now)).extracting(OomMove::appliedMillis).containsExactly(OptionalLong.empty());

        now = now.plusMillis(100);
        applied.put(rank(3), new Applied(rank(3), 1, Optional.empty()));
        settle();
        now = now.plusMillis(1_000);
        settle();
        assertThat(desk.status(now)).extracting(OomMove::appliedMillis).containsExactly(OptionalLong.of(125));
    }

    // Another coordinator decided it: when the report came is not known, and that is no zero.
    @Test
    void aMoveThatWasLearnedFromAWorkerHasNoTime() {
        settle();
        ranOut(oom(3, 0, Phase.FORWARD, asked(138), 32, true));
        deliver(turn());
        desk = OomDesk.EMPTY;
        for (int rank = 0; rank < RANKS; rank++) {
            applied.put(rank(rank), new Applied(rank(rank), 1, Optional.empty()));
        }
        settle();

        assertThat(desk.status(now)).extracting(OomMove::appliedMillis).containsExactly(OptionalLong.empty());
    }

    @Test
    void caseD01WhatCannotBeRunAgainIsARestartAndNoRetry() throws IOException {
        settle();
        play(resource("d01.json").path("variants").get(1).path("replace"), false);

        assertThat(decided).hasSize(1);
        assertThat(decided.get(0).restart()).isTrue();
        assertThat(decided.get(0).cause().reason()).endsWith("after a restart: the step cannot be run again");
    }

    @Test
    void caseD02AMoveThatFreedNothingIsNotMadeAgainAndTheEndHasALastWord() throws IOException {
        JsonNode d02 = resource("d02.json");
        MemoryBytes before = MemoryBytes.of((long) (14.88 * MemoryBytes.GIBIBYTE));
        MemoryBytes after = MemoryBytes.of(
                (long) (d02.path("after").get(1).path("process_used_gib").asDouble() * MemoryBytes.GIBIBYTE));
        Figures figures = new Figures(
                Optional.of(mib(258)),
                Optional.empty(),
                Optional.of(before),
                Optional.empty(),
                Optional.of(mib(137)),
                Optional.empty());
        settle();
        int microBatch = 32;
        for (long sequence = 0; decided.stream().noneMatch(one -> one.level() == OomLevel.STOP); sequence++) {
            ranOut(oom(2, sequence, Phase.FORWARD, figures, microBatch, true));
            deliver(turn());
            microBatch = decided.get(decided.size() - 1).sizes().microBatch().orElse(microBatch);
            applied.put(rank(2), new Applied(rank(2), sequence + 1, Optional.of(after)));
            settle();
        }

        assertThat(decided.get(0).level()).isEqualTo(OomLevel.MICRO_BATCH);
        assertThat(decided.get(1).level()).as("halving freed nothing").isEqualTo(OomLevel.RESTART);
        assertThat(decided.get(1).sizes()).isEqualTo(decided.get(0).sizes());
        assertThat(decided).hasSizeLessThan(OomLadder.MAX_MOVES);
        JobDirective last = decided.get(decided.size() - 1);
        assertThat(last.sizes().microBatch()).as("the floor").hasValue(1);
        assertThat(last.cause().reason())
                .startsWith("rank 2 ran out of memory in FORWARD of step 120: asked for 258.0 MiB, had ")
                .contains("reserved and unused 137.0 MiB", "device full", "the last move freed nothing", "stop");
        assertThat(desk.status(now)).extracting(OomMove::state).endsWith("NO_EFFECT");
    }

    @Test
    void aLevelIsDoneOnlyWhenTheMeasuredUseHasFallen() {
        Figures figures = new Figures(
                Optional.empty(),
                Optional.empty(),
                Optional.of(gib(60)),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
        settle();
        ranOut(oom(0, 0, Phase.BACKWARD, figures, 32, true));
        deliver(turn());
        assertThat(desk.status(now)).extracting(OomMove::state).containsExactly("ORDERED");

        applied.put(rank(0), new Applied(rank(0), 1, Optional.empty()));
        settle();
        assertThat(desk.status(now)).extracting(OomMove::state).containsExactly("APPLIED");

        applied.put(rank(0), new Applied(rank(0), 1, Optional.of(gib(60))));
        settle();
        assertThat(desk.status(now)).extracting(OomMove::state).containsExactly("NO_EFFECT");

        applied.put(rank(0), new Applied(rank(0), 1, Optional.of(gib(59))));
        settle();
        assertThat(desk.status(now)).extracting(OomMove::state).containsExactly("DONE");
    }

    @Test
    void nothingIsDecidedBeforeEveryRankIsWithAWorkerThatObeysThisCoordinator() {
        ranOut(oom(0, 0, Phase.BACKWARD, Figures.UNKNOWN, 32, true));
        assertThat(turn()).as("ranks 2 and 3 were not heard of").isEmpty();

        obeyed = Optional.of(new CoordinatorToken(9, "other"));
        report(node(2));
        assertThat(turn()).as("their worker may be told something else").isEmpty();

        obeyed = Optional.of(TOKEN);
        report(node(2));
        assertThat(turn()).hasSize(2);
    }

    @Test
    void aNewCoordinatorGoesOnFromWhatAWorkerHoldsAndTellsTheOthersTheSame() {
        settle();
        ranOut(oom(0, 0, Phase.BACKWARD, Figures.UNKNOWN, 32, true));
        List<OomDesk.Send> sends = turn();
        deliver(sends.subList(1, 2)); // the other one is lost with the coordinator
        desk = OomDesk.EMPTY;

        settle();

        assertThat(decided).as("the new one decides nothing").hasSize(1);
        assertThat(held.values()).hasSize(2).containsOnly(decided.get(0));
    }

    @Test
    void aJobThatNoWorkerSpeaksOfIsKeptForAWhile() {
        settle();
        ranOut(oom(0, 0, Phase.BACKWARD, Figures.UNKNOWN, 32, true));
        deliver(turn());
        held.clear();
        desk = desk.forgetting(node(0), now).forgetting(node(2), now);

        settle();
        assertThat(held.values()).as("told again after all forgot").hasSize(2).containsOnly(decided.get(0));

        desk = desk.forgetting(node(0), now).forgetting(node(2), now);
        now = now.plus(OomDesk.KEPT_FOR).plusMillis(1);
        assertThat(desk.forgetting(node(0), now).status(now)).isEmpty();
    }

    @Test
    void whatIsNotTakenUpIsSentAgainAndNotBefore() {
        settle();
        ranOut(oom(0, 0, Phase.BACKWARD, Figures.UNKNOWN, 32, true));
        assertThat(turn()).hasSize(2);
        assertThat(turn()).isEmpty();

        now = now.plus(RESEND);
        deliver(turn());
        now = now.plus(RESEND);

        assertThat(turn()).isEmpty();
        assertThat(decided).hasSize(1);
    }

    @Test
    void theOwnLimitAndFragmentationHaveLevelsOfTheirOwnBeforeTheBatch() {
        assertThat(levels(OomKind.OWN_LIMIT, List.of()))
                .startsWith(OomLevel.LIMIT, OomLevel.MICRO_BATCH)
                .endsWith(OomLevel.STOP);
        assertThat(levels(OomKind.FRAGMENTATION, List.of(OomLevel.ALLOCATOR)))
                .startsWith(OomLevel.ALLOCATOR, OomLevel.MICRO_BATCH);
        assertThat(levels(OomKind.FRAGMENTATION, List.of()))
                .as("the setting is on already")
                .startsWith(OomLevel.MICRO_BATCH);
        assertThat(levels(OomKind.DEVICE_FULL, List.of(OomLevel.CPU, OomLevel.SIMPLIFY)))
                .containsExactly(
                        OomLevel.MICRO_BATCH, OomLevel.MICRO_BATCH, OomLevel.SIMPLIFY, OomLevel.CPU, OomLevel.STOP);
    }

    private static List<OomLevel> levels(OomKind kind, List<OomLevel> can) {
        List<OomLevel> levels = new ArrayList<>();
        Optional<JobDirective> current = Optional.empty();
        int microBatch = 4;
        while (!levels.contains(OomLevel.STOP)) {
            Means means = new Means(OptionalInt.of(microBatch), OptionalInt.of(4), can, true);
            OomReport report = new OomReport(rank(0), levels.size(), 1, Phase.FORWARD, kind, Figures.UNKNOWN, means);
            JobDirective next = OomLadder.next(JOB, current, Optional.empty(), report);
            microBatch = next.sizes().microBatch().orElse(microBatch);
            levels.add(next.level());
            current = Optional.of(next);
        }
        return levels;
    }

    @Test
    void anEstimateTakesMoreThanHalfAwayWhereHalfWillNotDo() {
        Figures figures = new Figures(
                Optional.of(gib(4)),
                Optional.of(gib(20)),
                Optional.of(gib(80)),
                Optional.empty(),
                Optional.empty(),
                Optional.of(gib(28)));

        JobDirective next =
                OomLadder.next(JOB, Optional.empty(), Optional.empty(), oom(0, 0, Phase.BACKWARD, figures, 32, true));

        // 64 GiB for 32 samples, and room for 8 GiB.
        assertThat(next.sizes()).isEqualTo(new JobDirective.Sizes(OptionalInt.of(4), OptionalInt.of(8)));
    }

    @Property(tries = 300)
    void everyLadderEndsAndTheBatchStaysWhatItWas(
            @ForAll @IntRange(min = 1, max = 1_000_000) int batch,
            @ForAll @Size(min = 40, max = 40) List<OomKind> kinds,
            @ForAll @Size(min = 40, max = 40) List<MoveState> states) {
        Optional<JobDirective> current = Optional.empty();
        int microBatch = batch;
        int moves = 0;
        while (current.map(JobDirective::level).orElse(OomLevel.LIMIT) != OomLevel.STOP) {
            assertThat(moves).isLessThan(kinds.size());
            Means means =
                    new Means(OptionalInt.of(microBatch), OptionalInt.of(batch), List.of(OomLevel.values()), true);
            OomReport report =
                    new OomReport(rank(0), moves, 1, Phase.FORWARD, kinds.get(moves), Figures.UNKNOWN, means);
            Optional<MoveState> state = current.isEmpty() ? Optional.empty() : Optional.of(states.get(moves));
            JobDirective next = OomLadder.next(JOB, current, state, report);
            int size = next.sizes().microBatch().orElseThrow();
            assertThat(size).isBetween(1, microBatch);
            assertThat((long) size * next.sizes().accumulation().orElseThrow())
                    .isBetween((long) batch, (long) batch + size - 1);
            assertThat(next.sequence()).isEqualTo(moves + 1L);
            microBatch = size;
            current = Optional.of(next);
            moves++;
        }
    }
}
