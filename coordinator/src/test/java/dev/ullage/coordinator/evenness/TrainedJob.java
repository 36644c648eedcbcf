package dev.ullage.coordinator.evenness;

import static dev.ullage.coordinator.Fixtures.NODE;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.TOKEN;
import static dev.ullage.coordinator.Fixtures.ledger;
import static dev.ullage.coordinator.Fixtures.mib;
import static dev.ullage.coordinator.Fixtures.rank;
import static dev.ullage.coordinator.Fixtures.settled;
import static dev.ullage.coordinator.Fixtures.terms;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.Batch;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.protocol.BatchShares;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.coordinator.Fixtures;
import dev.ullage.coordinator.oom.OomDesk.Standing;
import dev.ullage.coordinator.view.ClusterView;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.apache.pekko.actor.typed.ActorRef;

/** A job with a rank on each of some devices, whose memory is linear in what it holds at once. All sizes in MiB. */
final class TrainedJob {
    private static final ActorRef<ToWorker> WORKER =
            TestInbox.<ToWorker>create().getRef();

    /**
     * @param limit what the rank may hold
     * @param base what it keeps from step to step
     * @param beside what a step adds whatever the batch is
     * @param perSample what each sample adds
     */
    record Member(long limit, long base, long beside, long perSample) {}

    final List<Member> members;
    final int batch;
    List<Integer> samples;
    int rounds = 1;
    OptionalInt most = OptionalInt.empty();
    long steps = 10;
    int told;
    int granted;
    Optional<JobDirective> newest = Optional.empty();

    TrainedJob(int batch, List<Member> members) {
        this.batch = batch;
        this.members = List.copyOf(members);
        this.told = members.size();
        this.granted = members.size();
        int world = members.size();
        this.samples = IntStream.range(0, world)
                .mapToObj(rank -> batch / world + (rank < batch % world ? 1 : 0))
                .toList();
    }

    void follow(JobDirective order) {
        BatchShares shares = order.shares().orElseThrow();
        samples = shares.samples();
        rounds = shares.rounds();
        newest = Optional.of(order);
    }

    Standing standing() {
        return new Standing(true, newest);
    }

    int microBatch(int rank) {
        return Math.min((samples.get(rank) - 1) / rounds + 1, most.orElse(Integer.MAX_VALUE));
    }

    long peak(int rank) {
        Member member = members.get(rank);
        return member.base() + member.beside() + member.perSample() * microBatch(rank);
    }

    static DeviceId device(int rank) {
        return new DeviceId("GPU-%04d".formatted(rank));
    }

    WorkerAnnounced announced() {
        DeviceId[] devices =
                IntStream.range(0, members.size()).mapToObj(TrainedJob::device).toArray(DeviceId[]::new);
        return Fixtures.announced(NODE, Optional.empty(), WORKER, devices);
    }

    ClusterView view() {
        ClusterView view = ClusterView.EMPTY.with(announced(), T0);
        for (int rank = 0; rank < members.size(); rank++) {
            MemoryBytes limit = mib(members.get(rank).limit());
            view = view.with(
                    new LimitsReported(
                            NODE,
                            device(rank),
                            Optional.of(TOKEN),
                            1,
                            ledger(
                                    terms(mib(members.get(rank).limit() * 10 / 8), MemoryBytes.ZERO),
                                    rank < granted ? new GrantReport[] {settled(rank, limit)} : new GrantReport[0])),
                    T0);
            List<RankSample> ranks = rank < told ? List.of(sample(rank)) : List.of();
            view = view.with(
                    new DeviceSampled(
                            NODE,
                            device(rank),
                            0,
                            Optional.<MemoryUse>empty(),
                            Optional.of(MemoryBytes.ZERO),
                            ranks,
                            List.of()),
                    T0);
            view = view.with(new DeviceWatched(NODE, device(rank), new SampleQuality(SampleState.FRESH, 0)), T0);
        }
        return view;
    }

    private RankSample sample(int rank) {
        Member member = members.get(rank);
        Batch cut = new Batch(
                newest.map(JobDirective::sequence).orElse(0L),
                batch,
                samples.get(rank),
                microBatch(rank),
                most,
                Optional.of(mib(member.base())));
        List<PhasePeak> peaks = new ArrayList<>();
        peaks.add(new PhasePeak(Phase.FORWARD, Optional.of(mib(peak(rank) - 1)), Optional.empty()));
        peaks.add(new PhasePeak(Phase.BACKWARD, Optional.of(mib(peak(rank))), Optional.empty()));
        RankWatch watch = new RankWatch(
                new RankWatch.Progress(OptionalLong.of(120), OptionalLong.empty(), steps),
                peaks,
                new RankWatch.Allocator(
                        OptionalLong.empty(),
                        OptionalLong.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        OptionalLong.empty(),
                        OptionalLong.empty()),
                RankWatch.Leak.UNKNOWN,
                List.of(),
                Optional.empty(),
                RankWatch.Work.of(RankWatch.Batches.of(Optional.of(cut), Optional.empty()), Optional.empty()));
        return new RankSample(
                rank(rank),
                new RankFacts(
                        OptionalInt.of(members.size()),
                        OptionalInt.of(rank),
                        "torchrun",
                        0,
                        Optional.empty(),
                        List.of()),
                new RankSample.Activity(Phase.FORWARD, OptionalLong.of(120)),
                RankUse.UNKNOWN,
                EnforcedBy.TORCH,
                true,
                0,
                Optional.empty(),
                Optional.of(watch),
                Optional.empty());
    }

    static TrainedJob of(int batch, Member... members) {
        return new TrainedJob(batch, List.of(members));
    }

    /** Each rank within its limit with what it holds at once now. */
    boolean fits() {
        return IntStream.range(0, members.size())
                .allMatch(rank -> peak(rank) <= members.get(rank).limit());
    }

    int fullest() {
        return IntStream.range(0, members.size())
                .map(rank -> (int) (peak(rank) * 10_000 / members.get(rank).limit()))
                .max()
                .orElseThrow();
    }

    @Override
    public String toString() {
        return "batch %d over %s, samples %s in %d rounds".formatted(batch, members, samples, rounds);
    }
}
