package dev.ullage.worker.probe.smi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.probe.HostMemory;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SmiDevicesTest {
    private static final String UUID = "GPU-0a0a0a0a-0000-4000-8000-0000000000a1";

    /** Case A01. */
    @Test
    void aCardThatSharesMemoryHasTheHostsTotalAndUsesWhatItsProcessesHold() {
        SmiDevice device = only(
                HostMemory.parse(
                        Recordings.text("/cases/A01/meminfo.txt").lines().toList()),
                Recordings.text("/cases/A01/query-gpu.csv"),
                Recordings.text("/cases/A01/compute-apps.csv"));

        MemoryBytes total = MemoryBytes.of(127_600_748L * 1024);
        MemoryBytes used = MemoryBytes.ofMebibytes(19_135);
        MemoryBytes available = MemoryBytes.of(118_566_368L * 1024);
        assertThat(device.kind()).contains(DeviceKind.UNIFIED);
        assertThat(device.id().uuid()).contains(UUID);
        assertThat(device.memory().total()).isEqualTo(SmiAmount.of(total));
        assertThat(device.memory().used()).isEqualTo(SmiAmount.of(used));
        // Less than what its processes hold is missing from the available, so that does not leave them out.
        assertThat(device.memory().free()).isEqualTo(SmiAmount.of(available.minus(used)));
        assertThat(SmiDevices.difference(device.memory())).contains(0L);
        assertThat(device.processes().orElseThrow()).hasSize(1);
    }

    @Test
    void whatASharedMemoryCanGiveOutIsBoundedByWhatTheHostHasAvailable() {
        SmiDevice device = only(
                HostMemory.parse(List.of("MemTotal:  100000 kB", "MemFree: 1 kB", "MemAvailable:  30000 kB")),
                "name, uuid, memory.total [MiB], memory.used [MiB]\nNVIDIA GB10, " + UUID + ", [N/A], [N/A]\n",
                "gpu_uuid, pid, used_gpu_memory [MiB]\n");

        assertThat(device.memory().used()).isEqualTo(SmiAmount.of(MemoryBytes.ZERO));
        assertThat(device.memory().free()).isEqualTo(SmiAmount.of(MemoryBytes.of(30_000L * 1024)));
        assertThat(device.allocatable()).isEqualTo(SmiAmount.of(MemoryBytes.of(30_000L * 1024)));
    }

    /** Case A01, variants: the row is kept and nothing is guessed. */
    @Test
    void noFiguresAloneAreNoEvidenceForSharedMemory() {
        SmiDevice device = only(Optional.empty(), Recordings.text("/cases/A01/query-gpu.csv"));

        assertThat(device.kind()).isEmpty();
        assertThat(device.memory().total()).isEqualTo(SmiAmount.unknown("N/A"));
        assertThat(device.memory().used()).isEqualTo(SmiAmount.unknown("N/A"));
        assertThat(device.processes()).isEmpty();
    }

    /** Jetson and GB10 tables: no numbers, but processes or a known product. */
    @Test
    void withoutTheHostsFiguresASharedTotalIsUnknown() {
        SmiDevice spark =
                only(Optional.empty(), Recordings.text("/nvidia-smi/pub-01-gb10-unified-memory-not-supported.txt"));
        SmiDevice jetson = only(Optional.empty(), Recordings.text("/nvidia-smi/pub-03-jetson-orin-nvgpu.txt"));

        assertThat(spark.kind()).contains(DeviceKind.UNIFIED);
        assertThat(spark.memory().used()).isEqualTo(SmiAmount.of(MemoryBytes.ofMebibytes(2079 + 338)));
        assertThat(spark.memory().total()).isEqualTo(SmiAmount.unknown("the host's memory is not part of this output"));
        assertThat(jetson.kind()).contains(DeviceKind.UNIFIED);
        // Its driver never lists a process: "none found" is no reading of 0.
        assertThat(jetson.processes()).isEmpty();
        assertThat(jetson.memory().used()).isEqualTo(SmiAmount.unknown("the processes are unknown"));
    }

    /** Case A02: the parent cannot be read, the slice is what there is. */
    @Test
    void whatMayNotBeReadIsUnknownWithTheReason() {
        SmiDevice parent = only(Optional.empty(), Recordings.text("/cases/A02/query-gpu.csv"));
        assertThat(parent.memory().total()).isEqualTo(SmiAmount.unknown("Insufficient Permissions"));

        SmiDevice slice = only(
                Optional.empty(),
                Recordings.text("/cases/A02/query-gpu.csv"),
                Recordings.text("/cases/A02/nvidia-smi-L.txt"));
        assertThat(slice.kind()).contains(DeviceKind.MIG);
        assertThat(slice.id().uuid()).contains("MIG-0b0b0b0b-0000-5000-9000-0000000000a2");
        assertThat(slice.id().name()).contains("NVIDIA H100 80GB HBM3 MIG 2g.20gb");
        assertThat(slice.memory().total().isKnown()).isFalse();
    }

    /** Case A02: the second lines are BAR1. */
    @Test
    void theSecondLineOfAMigInstanceIsNotItsMemory() {
        SmiDevices seen = SmiDevices.of(SmiOutput.parse(Recordings.text("/cases/A02/mig-table.txt")), Optional.empty());

        assertThat(seen.devices().stream()
                        .map(device -> device.memory().used() + " / "
                                + device.memory().total().bytes().orElseThrow().value()))
                .containsExactly("14.0 GiB / 20937965568", "9.6 GiB / 20937965568", "13.0 MiB / 20937965568");
        assertThat(seen.devices()).extracting(SmiDevice::processes).containsOnly(Optional.empty());
    }

    /** Case A05: under WSL the list is right and the memory of each process is not available. */
    @Test
    void aProcessWithoutAFigureLeavesTheDevicesFiguresAlone() {
        SmiDevice device = only(
                Optional.empty(),
                Recordings.text("/cases/A05/wsl2-query-gpu.csv"),
                Recordings.text("/cases/A05/wsl2-compute-apps.csv"));

        assertThat(device.memory().total()).isEqualTo(SmiAmount.of(MemoryBytes.ofMebibytes(16_376)));
        assertThat(device.memory().used()).isEqualTo(SmiAmount.of(MemoryBytes.ofMebibytes(14_360)));
        assertThat(device.processes().orElseThrow()).hasSize(1);
        assertThat(device.processes().orElseThrow().get(0).used()).isEqualTo(SmiAmount.unknown("N/A"));
    }

    /** Case A05: the ids that a list read with the wrong layout has. */
    @Test
    void aListWithProcessIdsThatCannotBeIsNotTrusted() {
        for (String pid : List.of("0", "4294967295", "18446744073709551")) {
            SmiDevice device = only(
                    Optional.empty(),
                    "name, memory.total [MiB], memory.used [MiB]\nA100, 1000 MiB, 10 MiB\n",
                    "pid, used_gpu_memory [MiB]\n1184, 5 MiB\n" + pid + ", 5 MiB\n");

            assertThat(device.processes()).isEmpty();
            assertThat(device.memory().used()).isEqualTo(SmiAmount.of(MemoryBytes.ofMebibytes(10)));
            assertThat(device.problems())
                    .contains(
                            "the list of processes has the process id " + pid + ", which cannot be; it is not trusted");
        }
    }

    /** Case G01. */
    @Test
    void aColumnThatNobodyKnowsChangesNothing() {
        SmiDevice device = only(Optional.empty(), Recordings.text("/cases/G01/query-gpu.csv"));

        assertThat(device.id().uuid()).contains("GPU-0a0a0a0a-0000-4000-8000-0000000000f1");
        assertThat(device.memory().total()).isEqualTo(SmiAmount.of(MemoryBytes.ofMebibytes(24_576)));
        assertThat(device.memory().used()).isEqualTo(SmiAmount.of(MemoryBytes.ofMebibytes(830)));
        assertThat(device.problems())
                .containsExactly("kind: whether it is in MIG mode cannot be told from this output");
    }

    /** A list of processes says nothing about the card, and the memory of one in MIG mode is shown like any other's. */
    @Test
    void whatADeviceIsIsUnknownWhereNothingTellsIt() {
        String capture = "/nvidia-smi/nge-linux-x86_64__nvidia-h200-mig__590.48.01-load-";
        SmiDevice listed = only(Optional.empty(), Recordings.text(capture + "compute-apps.csv"));
        assertThat(listed.kind()).isEmpty();
        assertThat(listed.problems())
                .contains(
                        "kind: whether it has memory of its own and whether it is in MIG mode cannot be told from this"
                                + " output");

        String figures = "memory.total [MiB], memory.used [MiB]";
        SmiDevice untold = only(Optional.empty(), figures + "\n1000 MiB, 10 MiB\n");
        assertThat(untold.kind()).isEmpty();
        assertThat(untold.problems())
                .containsExactly("kind: whether it is in MIG mode cannot be told from this output");
        for (String mode : List.of("Disabled", "[N/A]", "[Not Supported]")) {
            SmiDevice told = only(Optional.empty(), figures + ", mig.mode.current\n1000 MiB, 10 MiB, " + mode + "\n");
            assertThat(told.kind()).as(mode).contains(DeviceKind.DISCRETE);
        }
        SmiDevice atFault =
                only(Optional.empty(), figures + ", mig.mode.current\n1000 MiB, 10 MiB, [GPU requires reset]\n");
        assertThat(atFault.kind()).isEmpty();
    }

    /** Drivers before 450 have no such mode; the table of one says nothing about it. */
    @Test
    void theTableOfADriverWithoutMigIsOfACard() {
        SmiReport old = SmiOutput.parse(Recordings.text("/nvidia-smi/pub-15-apex-gpu0-imbalance-rtx2080ti.txt"));

        assertThat(SmiDevices.of(old, Optional.empty()).devices())
                .extracting(SmiDevice::kind)
                .containsOnly(Optional.of(DeviceKind.DISCRETE));
    }

    @Test
    void figuresThatDoNotAddUpAreMarked() {
        String header = "memory.total [MiB], memory.reserved [MiB], memory.used [MiB], memory.free [MiB],"
                + " mig.mode.current\n";
        assertThat(only(Optional.empty(), header + "1000 MiB, 100 MiB, 101 MiB, 801 MiB, [N/A]\n")
                        .problems())
                .isEmpty();
        assertThat(only(Optional.empty(), header + "1000 MiB, 100 MiB, 0 MiB, 1000 MiB, [N/A]\n")
                        .problems())
                .containsExactly("used + free + reserved differs from total by 104857600 bytes,"
                        + " which is more than the rounding to MiB explains");
        SmiDevice impossible = only(Optional.empty(), header + "1000 MiB, 0 MiB, 2000 MiB, 0 MiB, [N/A]\n");
        assertThat(impossible.memory().used()).isEqualTo(SmiAmount.unknown("used is more than total"));
    }

    @Test
    void onADeviceInMigModeAProcessWithoutItsInstanceIsNobodysForSure() {
        String capture = "/nvidia-smi/nge-linux-x86_64__nvidia-h200-mig__590.48.01-load-";
        SmiReport apps = SmiOutput.parse(Recordings.text(capture + "compute-apps.csv"));
        SmiReport table = SmiOutput.parse(Recordings.text(capture + "table.txt"));
        SmiReport withoutList = new SmiReport(
                table.driver(),
                table.gpus().stream()
                        .map(gpu -> gpu.withProcesses(Optional.empty()))
                        .toList(),
                false,
                List.of());

        assertThat(SmiDevices.of(SmiReports.join(List.of(apps, withoutList)), Optional.empty())
                        .devices())
                .hasSize(5)
                .extracting(SmiDevice::processes)
                .containsOnly(Optional.empty());
        // The table tells the instances, so its list is taken although it is the less exact one.
        assertThat(SmiDevices.of(SmiReports.join(List.of(apps, table)), Optional.empty()).devices().stream()
                        .map(device -> device.processes().orElseThrow().size()))
                .containsExactly(0, 3, 0, 0, 0);
    }

    @Test
    void aDeviceInMigModeWithoutInstancesIsNoDevice() {
        SmiDevices seen = SmiDevices.of(
                SmiOutput.parse("index, memory.total [MiB], mig.mode.current\n1, 40960 MiB, Enabled\n"),
                Optional.empty());

        assertThat(seen.devices()).isEmpty();
        assertThat(seen.problems())
                .containsExactly("GPU 1 is in MIG mode and no instance of it is shown: nothing can be given out on it");
    }

    private static SmiDevice only(Optional<HostMemory> host, String... outputs) {
        SmiReport report =
                SmiReports.join(List.of(outputs).stream().map(SmiOutput::parse).toList());
        SmiDevices seen = SmiDevices.of(report, host);
        assertThat(seen.devices()).hasSize(1);
        return seen.devices().get(0);
    }
}
