package dev.ullage.worker.probe.smi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.MemoryBytes;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Full captures: over 200 columns, of which a few count. The values in the tables were read off by hand, in MiB. */
class SmiCapturesTest {
    private static final String FOLDER = "/nvidia-smi/captures-full/";
    private static final String QUERY = " :: query-gpu (csv";
    private static final String APPS = " :: query-compute-apps (per-process)";

    // capture; driver; total, reserved, used, free; what the parts exceed the total by; processes
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "linux-x86_64__nvidia-geforce-rtx-2080-super__595.71.05 idle; 595.71.05; 8192 408 214 7571 1 0",
                "linux-x86_64__nvidia-geforce-rtx-2080-super__595.71.05 load; 595.71.05; 8192 408 819 6967 2 2",
                "linux-x86_64__nvidia-geforce-rtx-2080-super__610.57.04 idle; 610.57.04; 8192 400 211 7582 1 0",
                "linux-x86_64__nvidia-geforce-rtx-2080-super__610.57.04 load; 610.57.04; 8192 400 815 6978 1 2",
                "linux-x86_64__nvidia-geforce-rtx-4080-super__595.71.05 idle; 595.71.05; 16376 434 596 15348 2 1",
                "linux-x86_64__nvidia-geforce-rtx-4080-super__595.71.05 load; 595.71.05; 16376 434 1474 14470 2 3",
                "linux-x86_64__nvidia-h100-80gb-hbm3__590.48.01 idle; 590.48.01; 81559 479 0 81081 1 0",
                "linux-x86_64__nvidia-h100-80gb-hbm3__590.48.01 load; 590.48.01; 81559 479 19818 61263 1 3",
                "linux-x86_64__nvidia-h200-mig__590.48.01 idle; 590.48.01; 143771 614 55 143103 1 0",
                "linux-x86_64__nvidia-h200-mig__590.48.01 load; 590.48.01; 143771 614 16959 126199 1 3",
                "linux-x86_64__nvidia-h200__590.48.01 idle; 590.48.01; 143771 614 0 143158 1 0",
                "linux-x86_64__nvidia-h200__590.48.01 load; 590.48.01; 143771 614 32362 110796 1 3",
                "windows-x86_64__nvidia-geforce-rtx-2080-super__591.86 idle; 591.86; 8192 205 702 7286 1 10",
                "windows-x86_64__nvidia-geforce-rtx-2080-super__591.86 load; 591.86; 8192 205 1296 6692 1 12"
            })
    void ofAllColumnsTheKnownOnesCount(String capture, String driver, String figures) {
        SmiReport report = joined(capture);

        assertThat(report.driver()).contains(driver);
        assertThat(report.problems()).isEmpty();
        assertThat(report.gpus()).hasSize(1);
        SmiGpu gpu = report.gpus().get(0);
        assertThat(gpu.id().uuid()).contains("GPU-00000000-0000-0000-0000-000000000000");
        assertThat(gpu.id().index()).hasValue(0);
        SmiMemory memory = gpu.memory();
        assertThat("%d %d %d %d %d %d"
                        .formatted(
                                mebibytes(memory.total()),
                                mebibytes(memory.reserved()),
                                mebibytes(memory.used()),
                                mebibytes(memory.free()),
                                SmiDevices.difference(memory).orElseThrow() / MemoryBytes.MEBIBYTE,
                                gpu.processes().orElseThrow().size()))
                .isEqualTo(figures);
    }

    @Test
    void theInstancesOfADeviceAreTheDevicesAndHaveTheirOwnMemoryNamesAndProcesses() {
        String file = FOLDER + "linux-x86_64__nvidia-h200-mig__590.48.01.txt.gz";
        SmiReport report = SmiReports.join(List.of(
                SmiOutput.parse(Recordings.section(file, "capabilities :: list (-L)")),
                SmiOutput.parse(Recordings.section(file, "load :: nvidia-smi (default table)"))));

        SmiDevices seen = SmiDevices.of(report, Optional.empty());

        assertThat(seen.devices()).extracting(SmiDevice::kind).containsOnly(Optional.of(DeviceKind.MIG));
        assertThat(seen.devices().stream().map(device -> "%s %s %d/%d %d"
                        .formatted(
                                device.id().uuid().orElseThrow().substring(0, 12),
                                device.id().name().orElseThrow(),
                                mebibytes(device.memory().used()),
                                mebibytes(device.memory().total()),
                                device.processes().orElseThrow().size())))
                .containsExactly(
                        "MIG-00000000 NVIDIA H200 MIG 1c.3g.71gb 16925/71424 0",
                        "MIG-00000001 NVIDIA H200 MIG 2c.3g.71gb 16925/71424 3",
                        "MIG-00000002 NVIDIA H200 MIG 2g.35gb 17/33280 0",
                        "MIG-00000003 NVIDIA H200 MIG 1g.18gb 9/16384 0",
                        "MIG-00000004 NVIDIA H200 MIG 1g.18gb 9/16384 0");
        assertThat(seen.problems()).containsExactly("GPU 0 is in MIG mode: its memory belongs to its 5 instances");
        assertThat(seen.devices().get(0).problems())
                .containsExactly(
                        "its memory is also that of MIG device 1:" + " compute instances of one GPU instance share it");
        assertThat(seen.devices().get(2).problems()).isEmpty();
    }

    private static long mebibytes(SmiAmount amount) {
        return amount.bytes().orElseThrow().value() / MemoryBytes.MEBIBYTE;
    }

    /** @param capture file and {@code idle} or {@code load}, with a blank between */
    private static SmiReport joined(String capture) {
        int blank = capture.indexOf(' ');
        String file = FOLDER + capture.substring(0, blank) + ".txt.gz";
        String when = capture.substring(blank + 1);
        return SmiReports.join(List.of(
                SmiOutput.parse(Recordings.section(file, when + QUERY)),
                SmiOutput.parse(Recordings.section(file, when + APPS)),
                SmiOutput.parse(Recordings.section(file, "capabilities :: list (-L)"))));
    }
}
