package dev.ullage.cli.run;

import dev.ullage.cli.run.ClusterDevices.Device;
import dev.ullage.cli.run.ClusterDevices.Host;
import dev.ullage.cli.run.LaunchRequest.Size;
import dev.ullage.common.model.Counts;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.probe.VisibleDevices;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/**
 * Holds a request against the cluster before anything starts. Pure.
 *
 * <p>Refused is what cannot work: more ranks than devices, a list and a count that disagree, memory that no device of
 * the job could ever give. What only does not fit now is a warning: it may by the time the ranks ask.
 */
final class RunChecks {
    private final LaunchRequest request;
    private final RunTerms terms;
    private final List<String> refusals;
    private final List<String> warnings = new ArrayList<>();

    /**
     * @param refusals why it must not start; empty when it may
     * @param devices this host's that the job is to see, its local ranks in turn; empty when it starts elsewhere too,
     *     or nobody knows how many ranks there are
     * @param perHost ranks on this host
     */
    record Verdict(
            List<String> refusals, List<String> warnings, Optional<List<DeviceInfo>> devices, OptionalInt perHost) {
        Verdict {
            refusals = List.copyOf(refusals);
            warnings = List.copyOf(warnings);
        }

        /** The device of a rank on this host. */
        DeviceInfo deviceOf(int localRank) {
            List<DeviceInfo> list = devices.orElseThrow();
            return list.get(localRank % list.size());
        }
    }

    private RunChecks(LaunchRequest request, RunTerms terms) {
        this.request = request;
        this.terms = terms;
        this.refusals = new ArrayList<>(request.problems());
    }

    /** @param here this host among the cluster's, when it is one of them */
    static Verdict check(LaunchRequest request, RunTerms terms, ClusterDevices cluster, Optional<Host> here) {
        RunChecks checks = new RunChecks(request, terms);
        if (terms.devices().equals(OptionalInt.of(0))) {
            checks.warnings.add("no device was asked for: the job sees none, and its ranks have no limit");
            return new Verdict(checks.refusals, checks.warnings, Optional.of(List.of()), OptionalInt.empty());
        }
        request.reasonNotToWrap()
                .ifPresent(reason -> checks.warnings.add(reason
                        + "; put \"python3 -m ullage exec --\" in front of that command, or they have no limit"));
        Size size = checks.size();
        Optional<List<DeviceInfo>> chosen = Optional.empty();
        OptionalInt perHost = OptionalInt.empty();
        boolean isElsewhere =
                request.launcher() == Launcher.SRUN && cluster.hosts().size() > 1;
        if (here.isPresent() && !isElsewhere) {
            List<DeviceInfo> visible = checks.visible(here.get(), size);
            perHost = size.isOnePerDevice()
                    ? OptionalInt.of(Math.min(terms.devices().orElse(visible.size()), visible.size()))
                    : size.perHost();
            chosen = checks.onHost(size, visible, perHost);
        } else {
            checks.warnings.add(
                    isElsewhere
                            ? "srun chooses the hosts, so this one's devices were not looked at"
                            : "this host is no node of the cluster, so its devices were not looked at");
            checks.onAnyHost(size, cluster.withoutDraining());
        }
        checks.notDraining(here, isElsewhere, cluster);
        ClusterDevices taking = cluster.withoutDraining();
        checks.inCluster(size, taking, taking.equals(cluster) ? "" : " beside draining nodes");
        checks.memory(taking, here, chosen);
        return new Verdict(checks.refusals, checks.warnings, chosen, perHost);
    }

    /** Where nothing new is to be placed, nothing is started. */
    private void notDraining(Optional<Host> here, boolean isElsewhere, ClusterDevices cluster) {
        if (!isElsewhere && here.isPresent() && here.get().draining()) {
            refusals.add(
                    "this host (node %s) is draining: nothing new is started on it; \"ullage undrain %s\" ends that"
                            .formatted(here.get().node(), here.get().node()));
        } else if (isElsewhere) {
            cluster.hosts().stream()
                    .filter(Host::draining)
                    .forEach(
                            host -> warnings.add(
                                    "node " + host.node()
                                            + " is draining: have srun leave it out (--exclude), or its ranks start there all the same"));
        }
    }

    private Size size() {
        Size said = request.size();
        if (terms.ranks().isEmpty()) {
            return said;
        }
        int ranks = terms.ranks().getAsInt();
        if (said.ranks().isPresent() && said.ranks().getAsInt() != ranks) {
            refusals.add("--ranks %d, but %s is told to start %d"
                    .formatted(ranks, request.launcher().label(), said.ranks().getAsInt()));
            return said;
        }
        OptionalInt perHost = said.isOneHost() ? OptionalInt.of(ranks) : said.perHost();
        return new Size(OptionalInt.of(ranks), perHost, said.hosts(), false);
    }

    /** What the caller's list, and the launcher's own, leave of this host's devices. */
    private List<DeviceInfo> visible(Host here, Size size) {
        List<DeviceInfo> all = here.infos();
        if (terms.visibleDevices().isEmpty()) {
            return request.slots().map(slots -> slots(slots, all)).orElse(all);
        }
        String text = terms.visibleDevices().get();
        VisibleDevices list = OwnInstances.visible(text, size, all);
        warnings.addAll(list.warnings());
        if (list.devices().isEmpty()) {
            refusals.add("CUDA_VISIBLE_DEVICES='" + text + "' leaves no device of " + listed(all));
            return List.of();
        }
        boolean isByNumber = !text.strip().startsWith("GPU-") && !text.strip().startsWith("MIG-");
        boolean differ = all.stream().map(DeviceInfo::name).distinct().count() > 1;
        if (isByNumber && differ && !terms.deviceOrder().equals(Optional.of("PCI_BUS_ID"))) {
            warnings.add("the devices of this host differ, so the numbers in CUDA_VISIBLE_DEVICES may mean others to"
                    + " CUDA than to the driver: set CUDA_DEVICE_ORDER=PCI_BUS_ID");
        }
        request.slots().ifPresent(slots -> requireSame(slots(slots, all), list));
        return list.devices();
    }

    private void requireSame(List<DeviceInfo> included, VisibleDevices list) {
        boolean areSame =
                included.size() == list.devices().size() && list.devices().containsAll(included);
        if (!areSame) {
            refusals.add("--include names %s, CUDA_VISIBLE_DEVICES leaves %s"
                    .formatted(listed(included), listed(list.devices())));
        }
    }

    private List<DeviceInfo> slots(List<Integer> slots, List<DeviceInfo> all) {
        List<DeviceInfo> named = new ArrayList<>();
        for (int slot : slots) {
            Optional<DeviceInfo> device =
                    all.stream().filter(info -> info.index() == slot).findFirst();
            device.ifPresentOrElse(
                    named::add,
                    () -> refusals.add("--include names device " + slot + ", this host has " + listed(all)));
        }
        return named;
    }

    private Optional<List<DeviceInfo>> onHost(Size size, List<DeviceInfo> visible, OptionalInt perHost) {
        int wanted = terms.devices().orElse(visible.size());
        if (wanted > visible.size()) {
            refusals.add("--gpus " + wanted + ", but there are only " + countVisible(visible));
            return Optional.empty();
        }
        if (perHost.isEmpty()) {
            if (size.isOneHost()) {
                warnings.add("how many ranks there will be cannot be told: say --ranks to have it checked");
            }
            return Optional.empty();
        }
        int ranks = perHost.getAsInt();
        int needed = -Math.floorDiv(-ranks, terms.ranksPerDevice());
        if (needed > wanted && !visible.isEmpty()) {
            refusals.add("%s, %s, at most %d on each (--ranks-per-device)"
                    .formatted(
                            Counts.of(ranks, "rank"),
                            countVisible(visible.subList(0, wanted)),
                            terms.ranksPerDevice()));
            return Optional.empty();
        }
        boolean namesDevices =
                terms.visibleDevices().isPresent() || request.slots().isPresent();
        if (namesDevices && terms.devices().isEmpty() && needed < visible.size() && isCounted()) {
            refusals.add("a list and a count disagree: %s for %s; shorten the list, or say --gpus %d for its"
                            .formatted(Counts.of(ranks, "rank"), countVisible(visible), needed)
                    + " first " + needed);
            return Optional.empty();
        }
        // Never all of them by default: without a list, as many as the ranks need.
        int given = terms.devices().orElse(namesDevices ? visible.size() : needed);
        return size.isOneHost() && given > 0 ? Optional.of(visible.subList(0, given)) : Optional.empty();
    }

    private void onAnyHost(Size size, ClusterDevices cluster) {
        int most = cluster.hosts().stream()
                .mapToInt(host -> host.devices().size())
                .max()
                .orElse(0);
        if (size.perHost().isPresent() && size.perHost().getAsInt() > most * terms.ranksPerDevice()) {
            refusals.add("%s on a host, but none has more than %s, at most %d on each"
                            .formatted(
                                    Counts.of(size.perHost().getAsInt(), "rank"),
                                    Counts.of(most, "device"),
                                    terms.ranksPerDevice())
                    + " (--ranks-per-device)");
        }
    }

    /** Whether the command line itself counts devices: a rank of a plain process may want to see several. */
    private boolean isCounted() {
        return request.launcher() == Launcher.DEEPSPEED || request.launcher() == Launcher.TORCHRUN;
    }

    private void inCluster(Size size, ClusterDevices cluster, String beside) {
        int devices = cluster.deviceCount();
        int most = devices * terms.ranksPerDevice();
        if (size.ranks().isPresent() && size.ranks().getAsInt() > most && !size.isOneHost()) {
            refusals.add("%s, %s in the whole cluster%s, at most %d on each (--ranks-per-device)"
                    .formatted(
                            Counts.of(size.ranks().getAsInt(), "rank"),
                            Counts.of(devices, "device"),
                            beside,
                            terms.ranksPerDevice()));
        }
    }

    private void memory(ClusterDevices cluster, Optional<Host> here, Optional<List<DeviceInfo>> chosen) {
        if (terms.memory().isEmpty()) {
            return;
        }
        MemoryBytes asked = terms.memory().get();
        if (chosen.isPresent()) {
            for (DeviceInfo info : chosen.get()) {
                here.flatMap(host -> host.device(info)).ifPresent(device -> memoryOn(device, asked));
            }
            return;
        }
        long fitting = cluster.hosts().stream()
                .flatMap(host -> host.devices().stream())
                .filter(device -> mostForARank(device)
                        .map(most -> !asked.isMoreThan(most))
                        .orElse(true))
                .count();
        int ranks = terms.ranks().orElse(request.size().ranks().orElse(1));
        if (fitting * terms.ranksPerDevice() < ranks) {
            refusals.add("%s of %s%s, but only %s of the cluster could ever give a rank that much"
                    .formatted(
                            Counts.of(ranks, "rank"), asked, ranks == 1 ? "" : " each", Counts.of(fitting, "device")));
        }
    }

    private Optional<MemoryBytes> mostForARank(Device device) {
        return device.most().map(most -> most.dividedBy(terms.ranksPerDevice()));
    }

    private void memoryOn(Device device, MemoryBytes asked) {
        Optional<MemoryBytes> most = mostForARank(device);
        if (most.isEmpty()) {
            warnings.add("what " + device.label() + " can give is not known yet");
        } else if (asked.isMoreThan(most.get())) {
            refusals.add("%s for each rank, but %s can never give more than %s (%s less the reserve of %s%s)"
                    .formatted(
                            asked,
                            device.label(),
                            most.get(),
                            device.terms().orElseThrow().allocatable(),
                            device.terms().orElseThrow().reserve(),
                            terms.ranksPerDevice() == 1
                                    ? ""
                                    : ", for each of " + Counts.of(terms.ranksPerDevice(), "rank")));
        } else {
            device.free()
                    .map(free -> free.dividedBy(terms.ranksPerDevice()))
                    .filter(asked::isMoreThan)
                    .ifPresent(free -> warnings.add(
                            "%s for each rank, but %s has %s to promise to each now; the ranks start with less until"
                                            .formatted(asked, device.label(), free)
                                    + " others shrink or end"));
        }
    }

    private String countVisible(List<DeviceInfo> devices) {
        return Counts.of(devices.size(), "visible device") + " (" + indices(devices) + ")";
    }

    private static String listed(List<DeviceInfo> devices) {
        return devices.isEmpty() ? "no device" : (devices.size() == 1 ? "device " : "devices ") + indices(devices);
    }

    private static String indices(List<DeviceInfo> devices) {
        return devices.stream().map(info -> Integer.toString(info.index())).collect(Collectors.joining(", "));
    }
}
