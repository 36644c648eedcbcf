package dev.ullage.worker.probe.smi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.MemoryBytes;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Traps of the formats that no recording here has, in the shape that others met them in. */
class SmiOutputTest {
    @ParameterizedTest
    @CsvSource({
        "8192 MiB, '', 8589934592",
        "214MiB, '', 224395264",
        "7, MiB, 7340032",
        "0 MiB, '', 0",
        "12 GiB, MiB, 12884901888",
        "1024 B, '', 1024",
    })
    void anAmountIsExactToTheByte(String printed, String unitOfHeading, long bytes) {
        assertThat(SmiAmount.parse(printed, unitOfHeading)).isEqualTo(SmiAmount.of(MemoryBytes.of(bytes)));
    }

    @ParameterizedTest
    @CsvSource({
        "[N/A], N/A",
        "N/A, N/A",
        "[Not Supported], Not Supported",
        "Not Supported, Not Supported",
        "[Insufficient Permissions], Insufficient Permissions",
        "[GPU requires reset], GPU requires reset",
        "[Function Not Found], Function Not Found",
        "[Unknown Error], Unknown Error",
        "[GPU is lost], GPU is lost",
        "ERR!, ERR!",
        "'', nothing is printed",
        "10052..., '''10052...'' is cut off'",
        "512, '''512'' has no unit'",
        "18446744073709551615 B, '''18446744073709551615 B'' is not a whole number of bytes, KiB, MiB or GiB'",
        "-1 MiB, '''-1 MiB'' is not a whole number of bytes, KiB, MiB or GiB'",
        "nan MiB, nan MiB",
        "99999999999999999 GiB, '''99999999999999999 GiB'' is more than any device has'",
    })
    void whatIsNoAmountIsUnknownWithWhatWasPrinted(String printed, String reason) {
        assertThat(SmiAmount.parse(printed, "")).isEqualTo(SmiAmount.unknown(reason));
    }

    @Test
    void aCsvWithoutUnitsHasThemInItsHeading() {
        SmiReport report = SmiOutput.parse("uuid, memory.total [MiB], memory.used\nGPU-1, 81559, 5\n");

        assertThat(report.gpus().get(0).memory().total()).isEqualTo(SmiAmount.of(MemoryBytes.ofMebibytes(81_559)));
        assertThat(report.gpus().get(0).memory().used()).isEqualTo(SmiAmount.unknown("'5' has no unit"));
    }

    @Test
    void aGpuThatNeedsAResetHidesNoOther() {
        SmiReport report = SmiOutput.parse(
                """
                index, uuid, memory.total [MiB], memory.used [MiB]
                0, GPU-0, 81920 MiB, 3 MiB
                1, GPU-1, [GPU requires reset], [GPU requires reset]
                2, GPU-2, 81920 MiB, 4 MiB
                """);

        assertThat(report.gpus()).hasSize(3);
        assertThat(report.gpus().get(1).memory().used()).isEqualTo(SmiAmount.unknown("GPU requires reset"));
        assertThat(report.gpus().get(2).id().index()).hasValue(2);
    }

    @Test
    void aMessageBetweenTheRowsIsAProblemAndNoRow() {
        SmiReport report = SmiOutput.parse(
                """
                Unable to determine the device handle for GPU1: 0000:34:00.0: Unknown Error
                index, uuid, memory.total [MiB]
                0, GPU-0, 81920 MiB
                2, GPU-2
                """);

        assertThat(report.gpus()).hasSize(1);
        assertThat(report.problems())
                .containsExactly(
                        "Unable to determine the device handle for GPU1: 0000:34:00.0: Unknown Error",
                        "a row of 2 cells under 3 headings is left out: '2, GPU-2'");
    }

    @Test
    void aCommaInTheNameOfAProcessStaysThere() {
        SmiReport report = SmiOutput.parse(
                """
                gpu_uuid, pid, process_name, used_gpu_memory [MiB]
                GPU-1, 42, python train.py, "a, b, 7 MiB
                """);

        SmiProcess process = report.gpus().get(0).processes().orElseThrow().get(0);
        assertThat(process.name()).isEqualTo("python train.py, \"a, b");
        assertThat(process.used()).isEqualTo(SmiAmount.of(MemoryBytes.ofMebibytes(7)));
    }

    @Test
    void accountedProcessesHoldNothingNow() {
        SmiReport report =
                SmiOutput.parse("gpu_uuid, pid, max_memory_usage [MiB], time [ms]\nGPU-1, 42, 7 MiB, 3 ms\n");

        assertThat(report.gpus()).isEmpty();
        assertThat(report.problems())
                .containsExactly("a list of accounted processes says nothing about memory held now");
    }

    @Test
    void memoryThatATableCutsOffIsUnknown() {
        SmiReport report = SmiOutput.parse(table(
                "|   0  NVIDIA B200                    On  |   00000000:1B:00.0 Off |                    0 |",
                "| N/A   48C    P0            512W / 1000W |  101023MiB / 183359MiB |     99%      Default |",
                "|    0   N/A  N/A           10001      C   /usr/bin/python3                    10052... |"));

        assertThat(report.gpus().get(0).memory().used()).isEqualTo(SmiAmount.of(MemoryBytes.ofMebibytes(101_023)));
        assertThat(report.gpus().get(0).processes().orElseThrow().get(0).used())
                .isEqualTo(SmiAmount.unknown("'10052...' is cut off"));
    }

    /** A device at fault prints 0 MiB of all its memory; nothing may be placed there because of that. */
    @Test
    void whatADeviceAtFaultUsesIsUnknown() {
        SmiReport report = SmiOutput.parse(table(
                "|   2  NVIDIA A100-SXM4-80GB          On  |   00000000:87:00.0 Off |                 ERR! |",
                "| N/A   ERR!  ERR!          ERR! /  400W  |       0MiB /  81920MiB |     ERR!      Default |",
                "|  No running processes found                                                             |"));

        SmiGpu gpu = report.gpus().get(0);
        assertThat(gpu.memory().total()).isEqualTo(SmiAmount.of(MemoryBytes.ofMebibytes(81_920)));
        assertThat(gpu.memory().used()).isEqualTo(SmiAmount.unknown("ERR!"));
        assertThat(gpu.problems()).hasSize(2).anyMatch(problem -> problem.contains("may be at fault"));
    }

    /** Case H01, p620: three lines out of the middle of a table. */
    @Test
    void partOfATableIsEnough() {
        SmiReport report = SmiOutput.parse(Recordings.text("/cases/H01/p620.txt"));

        assertThat(report.gpus()).hasSize(1);
        assertThat(report.gpus().get(0).id().name()).contains("Quadro P620");
        assertThat(report.gpus().get(0).memory().used()).isEqualTo(SmiAmount.of(MemoryBytes.ofMebibytes(3)));
        assertThat(report.gpus().get(0).processes()).isEmpty();
    }

    @Test
    void anEmptyProcessSectionIsNotKnownToBeEmpty() {
        SmiReport report = SmiOutput.parse(table(
                "|   0  NVIDIA A100                    On  |   00000000:1B:00.0 Off |                    0 |",
                "| N/A   48C    P0            512W / 1000W |       5MiB /  40960MiB |     99%      Default |",
                "+-----------------------------------------------------------------------------------------+"));

        assertThat(report.gpus().get(0).processes()).isEmpty();
        assertThat(report.problems()).hasSize(1);
    }

    @Test
    void aPendingChangeOfMigModeIsNotYetTheMode() {
        String off = "| N/A   48C    P0            512W / 1000W |       5MiB /  40960MiB |     99%      Default |\n"
                + "|                                         |                        |            Disabled* |";
        SmiReport report = SmiOutput.parse(table(
                "|   0  NVIDIA A100                    On  |   00000000:1B:00.0 Off |                    0 |",
                off,
                "|  No running processes found                                                             |"));

        assertThat(report.gpus().get(0).mig().enabled()).contains(false);
    }

    @Test
    void xmlFetchesNothingAndSaysWhereItIsBroken() {
        String attack =
                """
                <?xml version="1.0"?>
                <!DOCTYPE nvidia_smi_log [<!ENTITY file SYSTEM "file:///etc/hostname">]>
                <nvidia_smi_log><attached_gpus>1</attached_gpus>
                <gpu id="00000000:01:00.0"><product_name>a&file;b</product_name><processes>N/A</processes></gpu>
                </nvidia_smi_log>
                """;
        SmiReport report = SmiOutput.parse(attack);
        assertThat(report.gpus().stream().flatMap(gpu -> gpu.id().name().stream()))
                .allMatch(name -> name.equals("ab"));

        SmiReport cut = SmiOutput.parse("<?xml version=\"1.0\" ?>\n<nvidia_smi_log>\n<gpu id=\"0\">");
        assertThat(cut.gpus()).isEmpty();
        assertThat(cut.problems()).hasSize(1);
        assertThat(cut.problems().get(0)).startsWith("the XML of nvidia-smi -q -x is cut off or not well formed");
    }

    @Test
    void devicesAreJoinedByUuidOrBusAndNeverByPlace() {
        SmiReport joined = SmiReports.join(List.of(
                SmiOutput.parse(
                        """
                        uuid, pci.bus_id, memory.total [MiB]
                        GPU-a, 00000000:01:00.0, 1 MiB
                        GPU-b, 00000000:02:00.0, 2 MiB
                        """),
                SmiOutput.parse("gpu_uuid, pid, used_gpu_memory [MiB]\nGPU-b, 7, 1 MiB\n"),
                SmiOutput.parse("index, pci.bus_id, memory.used [MiB]\n5, 0000:02:00.0, 2 MiB\n")));

        assertThat(joined.gpus()).hasSize(2);
        assertThat(joined.gpus().get(0).processes()).contains(List.of());
        assertThat(joined.gpus().get(1).id().index()).hasValue(5);
        assertThat(joined.gpus().get(1).processes().orElseThrow()).hasSize(1);
    }

    private static String table(String first, String second, String process) {
        return String.join("\n", "| NVIDIA-SMI 570.1    Driver Version: 570.1   CUDA Version: 12.8 |", first, second)
                + "\n\n| Processes:                |\n"
                + process
                + "\n";
    }
}
