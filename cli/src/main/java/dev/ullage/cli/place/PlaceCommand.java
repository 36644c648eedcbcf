package dev.ullage.cli.place;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.cli.ServerOption;
import dev.ullage.cli.client.ApiException;
import dev.ullage.cli.place.PlacementWish.Extent;
import dev.ullage.cli.place.Placer.Answer;
import dev.ullage.common.model.Cpus;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.MemorySizes;
import dev.ullage.common.model.Share;
import dev.ullage.common.model.Shares;
import dev.ullage.coordinator.planning.balance.PolicyKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ullage place}: advice from the status of a cluster; nothing is reserved. */
@Command(
        name = "place",
        description = "Says where the ranks of a job could go now, in the words of what starts them.",
        footer = {
            "",
            "This is advice: nothing is reserved, and what is free now may be taken when the job starts.",
            "A device has the room that its ledger has not promised and that was measured to be free. Devices whose"
                    + " readings are not fresh, that reported a critical Xid, or on which more is promised than may be,"
                    + " have none.",
            "--cpus and --host-memory are looked at where nodes say what they have; nothing holds a rank to them.",
            "Exit code 6: it can never fit; 1: it does not fit now; the message says what would have to be free.",
            "COMMAND in the output stands for the program; lines with # are for a hostfile or for reading."
        })
public final class PlaceCommand implements Callable<Integer> {
    private static final int MAX_RANKS = 100_000;
    private static final int MAX_RANKS_PER_DEVICE = 64;
    private static final int MAX_CORES = 1024;
    private static final List<PolicyKind> POLICIES = List.of(PolicyKind.FILL, PolicyKind.BEST_FIT, PolicyKind.PACK);

    private final CliEnvironment environment;

    @Option(names = "--ranks", paramLabel = "N", required = true, description = "Ranks of the job.")
    private int ranks;

    @Option(names = "--memory", paramLabel = "SIZE", description = "Device memory of each rank, as in 20GiB.")
    private @Nullable String memory;

    @Option(
            names = "--share",
            paramLabel = "SHARE",
            description = "Instead of --memory: part of its device of each rank, as in 50%%.")
    private @Nullable String share;

    @Option(
            names = "--ranks-per-device",
            paramLabel = "K",
            description = "Ranks on each device (default: ${DEFAULT-VALUE}).")
    private int ranksPerDevice = 1;

    @Option(names = "--same-node", description = "All on one node, or not at all.")
    private boolean sameNode;

    @Option(names = "--spread", description = "One device after the other, each on the node that is used least.")
    private boolean spread;

    @Option(names = "--model", paramLabel = "GLOB", description = "Only devices whose name matches, as in \"*H100*\".")
    private @Nullable String model;

    @Option(
            names = "--policy",
            paramLabel = "NAME",
            description = "fill, best-fit or pack (default: ${DEFAULT-VALUE}); not with --spread.")
    private String policy = PolicyKind.FILL.label();

    @Option(
            names = "--format",
            paramLabel = "NAME",
            description = "torchrun, mpirun, horovodrun, deepspeed, srun, hostfile, nodelist, rankfile or json"
                    + " (default: ${DEFAULT-VALUE}).")
    private String format = LaunchForm.TORCHRUN.label();

    @Option(names = "--cpus", paramLabel = "N", description = "Cores of the host for each rank, as in 4 or 0.5.")
    private @Nullable String cpus;

    @Option(
            names = "--host-memory",
            paramLabel = "SIZE",
            description = "Memory of the host for each rank, as in 16GiB.")
    private @Nullable String hostMemory;

    @Option(
            names = "--cores",
            paramLabel = "N",
            description = "For rankfile: logical cores of each rank; the first rank of a node gets 0 to N-1.")
    private @Nullable Integer cores;

    @Option(names = "--json", description = "The same as --format json.")
    private boolean json;

    @Mixin
    private ServerOption server = new ServerOption();

    @Spec
    private @Nullable CommandSpec spec;

    private final List<String> wrong = new ArrayList<>();

    public PlaceCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws ApiException, CommandFailure {
        Optional<LaunchForm> form = LaunchForm.of(json ? LaunchForm.JSON.label() : format);
        check(
                form.isPresent(),
                "--format is torchrun, mpirun, horovodrun, deepspeed, srun, hostfile, nodelist, rankfile or json, not "
                        + format);
        PlacementWish wish = wish();
        form.flatMap(known -> known.refusal(wish)).ifPresent(wrong::add);
        if (!wrong.isEmpty() || form.isEmpty()) {
            throw usage(String.join("; ", wrong));
        }
        JsonNode status = server.client().status();
        Offer offer = Offer.of(status);
        if (offer.unknown().isEmpty()
                && offer.hosts().stream().allMatch(host -> host.devices().isEmpty())) {
            throw new CommandFailure(ExitCode.NO_DEVICES, "the cluster has no devices");
        }
        Answer answer = Placer.place(offer, wish);
        if (answer instanceof Answer.Never never) {
            throw new CommandFailure(ExitCode.REFUSED, "this can never fit: " + never.why());
        }
        if (answer instanceof Answer.NotNow notNow) {
            throw new CommandFailure(ExitCode.FAILED, "this does not fit now: " + notNow.why());
        }
        if (answer instanceof Answer.Found found) {
            Optional<String> refusal = form.orElseThrow().refusal(found.ranks());
            if (refusal.isPresent()) {
                throw new CommandFailure(ExitCode.FAILED, refusal.get());
            }
            environment.out().print(form.orElseThrow().text(found.ranks(), wish));
            environment.out().flush();
        }
        return ExitCode.OK.code();
    }

    /** What is wrong goes to the list; the wish is used only when that stays empty. */
    private PlacementWish wish() {
        check(ranks >= 1 && ranks <= MAX_RANKS, "--ranks must be 1 to %d: %d".formatted(MAX_RANKS, ranks));
        check(
                ranksPerDevice >= 1 && ranksPerDevice <= MAX_RANKS_PER_DEVICE,
                "--ranks-per-device must be 1 to %d: %d".formatted(MAX_RANKS_PER_DEVICE, ranksPerDevice));
        check(
                cores == null || (cores >= 1 && cores <= MAX_CORES),
                "--cores must be 1 to %d: %s".formatted(MAX_CORES, cores));
        check(
                cores == null || format.equals(LaunchForm.RANKFILE.label()),
                "--cores is for --format rankfile, not " + format);
        check((memory == null) != (share == null), "one of --memory and --share is needed, and not both");
        check(!(sameNode && spread), "--same-node and --spread contradict each other");
        Optional<PolicyKind> kind = PolicyKind.of(policy).filter(POLICIES::contains);
        check(kind.isPresent(), "--policy is one of %s, not %s".formatted(POLICIES, policy));
        Optional<MemoryBytes> amount =
                parsed("--memory", memory, MemorySizes::parse).filter(bytes -> positive("--memory", bytes.isZero()));
        Optional<Share> part =
                parsed("--share", share, Shares::parse).filter(some -> positive("--share", some.equals(Share.NONE)));
        check(
                part.map(some -> (long) some.basisPoints() * ranksPerDevice).orElse(0L) <= Share.ONE_IN_BASIS_POINTS,
                "--share times --ranks-per-device is more than a device");
        Extent extent = sameNode ? Extent.SAME_NODE : spread ? Extent.SPREAD : Extent.FEW_NODES;
        return new PlacementWish(
                ranks,
                ranksPerDevice,
                amount,
                part,
                extent,
                Optional.ofNullable(model),
                kind.orElse(PolicyKind.FILL),
                cores == null ? OptionalInt.empty() : OptionalInt.of(cores),
                new HostNeed(
                        parsed("--host-memory", hostMemory, MemorySizes::parse)
                                .filter(bytes -> positive("--host-memory", bytes.isZero())),
                        parsed("--cpus", cpus, Cpus::parse).map(OptionalInt::of).orElse(OptionalInt.empty())));
    }

    private boolean positive(String option, boolean isZero) {
        check(!isZero, option + " must be more than 0");
        return !isZero;
    }

    private <T> Optional<T> parsed(String option, @Nullable String text, Function<String, T> parser) {
        try {
            return text == null ? Optional.empty() : Optional.of(parser.apply(text));
        } catch (IllegalArgumentException e) {
            wrong.add(option + ": " + e.getMessage());
            return Optional.empty();
        }
    }

    private void check(boolean isRight, String otherwise) {
        if (!isRight) {
            wrong.add(otherwise);
        }
    }

    private ParameterException usage(String message) {
        if (spec == null) {
            throw new IllegalStateException("not made by the command line");
        }
        return new ParameterException(spec.commandLine(), message);
    }
}
