package dev.ullage.worker.probe.smi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.MigSlice;
import dev.ullage.worker.probe.DeviceProblem;
import dev.ullage.worker.probe.ProbeUnavailableException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class SmiProbeTest {
    private static final String T4 = "/nvidia-smi/telegraf-xml/tesla-t4.xml";
    private static final DeviceId ZERO = new DeviceId("GPU-00000000-0000-0000-0000-000000000000");

    private final FakeTool tool = new FakeTool();
    private Instant now = Instant.EPOCH;

    /** Answers by the first argument; counts its runs. */
    private static final class FakeTool implements SmiTool {
        final Map<String, Answer> answers = new LinkedHashMap<>();
        final List<String> runs = new ArrayList<>();

        @Override
        public Answer run(List<String> arguments) {
            String first = arguments.get(0);
            runs.add(first.startsWith("--") ? first.substring(0, first.indexOf('=')) : first);
            return answers.getOrDefault(runs.get(runs.size() - 1), Answer.failed("the tool hangs"));
        }

        FakeTool saying(String argument, String output) {
            answers.put(argument, Answer.of(output));
            return this;
        }
    }

    @Test
    void aReadingHasTheFiguresToTheByteAndAllProcesses() throws ProbeUnavailableException {
        SmiProbe probe = open(tool.saying("-q", Recordings.text(T4)));

        assertThat(probe.description()).isEqualTo("nvidia-smi, driver 515.105.01");
        assertThat(probe.devices())
                .containsExactly(
                        new DeviceInfo(ZERO, 0, "Tesla T4", DeviceKind.DISCRETE, Optional.of("00000000:00:1E.0")));
        DeviceReading reading = probe.read(ZERO);
        assertThat(reading.memory())
                .contains(new MemoryUse(
                        mebibytes(15_360), Optional.of(mebibytes(388)), mebibytes(1_032), mebibytes(13_939)));
        assertThat(reading.processes())
                .contains(List.of(
                        new ProcessUse(675, Optional.of(mebibytes(22))),
                        new ProcessUse(5_762, Optional.of(mebibytes(1_005)))));
        // 388 + 1032 + 13939 = 15359: the reading is marked.
        assertThat(reading.problems())
                .containsExactly(
                        "nvidia-smi rounds to MiB: used + free + reserved differs from total by -1048576 bytes");
    }

    @Test
    void aDeviceThatIsNotWellStaysWhatItWasAndIsNothingWhereNobodyKnows() throws ProbeUnavailableException {
        String unwell = Recordings.text(T4).replace("<current_mig>N/A<", "<current_mig>[GPU requires reset]<");
        SmiProbe probe = open(tool.saying("-q", Recordings.text(T4)));
        tool.saying("-q", unwell);
        now = now.plusSeconds(2);
        assertThat(probe.rescan()).extracting(DeviceInfo::kind).containsExactly(DeviceKind.DISCRETE);

        SmiProbe another = open(tool);
        assertThat(another.devices()).isEmpty();
        assertThat(another.problems())
                .extracting(DeviceProblem::text)
                .containsExactly(
                        "kind: whether it is in MIG mode cannot be told from this output; it cannot be given out");
    }

    @Test
    void oneRunAnswersForAllDevicesAndForAWhile() throws ProbeUnavailableException {
        SmiProbe probe = open(tool.saying("-q", Recordings.text(T4)));
        for (int i = 0; i < 20; i++) {
            probe.read(ZERO);
        }
        assertThat(tool.runs).containsExactly("-q");

        now = now.plus(Duration.ofMillis(1_999));
        probe.read(ZERO);
        assertThat(tool.runs).hasSize(1);
        now = now.plusMillis(1);
        probe.read(ZERO);
        assertThat(tool.runs).hasSize(2);
        // A clock that is set back does not keep an answer alive.
        now = Instant.EPOCH;
        probe.read(ZERO);
        assertThat(tool.runs).hasSize(3);
    }

    @Test
    void aRunThatFailedCountsForAllDevicesAndOldFiguresAreNotSoldAsNew() throws ProbeUnavailableException {
        SmiProbe probe = open(tool.saying("-q", Recordings.text(T4)));
        tool.answers.clear();
        now = now.plusSeconds(10);

        for (int i = 0; i < 20; i++) {
            DeviceReading reading = probe.read(ZERO);
            assertThat(reading.memory()).isEmpty();
            assertThat(reading.processes()).isEmpty();
            assertThat(reading.problems()).containsExactly("the tool hangs");
        }
        assertThat(tool.runs).containsExactly("-q", "-q");

        now = now.plusMillis(499);
        assertThat(probe.read(ZERO).memory()).isEmpty();
        assertThat(tool.runs).hasSize(2);
        tool.saying("-q", Recordings.text(T4));
        assertThat(probe.read(ZERO).memory()).isEmpty();
    }

    /** Case G04: readings are fresh within one period of the tool, which is two seconds, after it is well again. */
    @Test
    void theReadingAfterOneThatFailedRunsTheToolAgain() throws ProbeUnavailableException {
        SmiProbe probe = open(tool.saying("-q", Recordings.text(T4)));
        tool.answers.clear();
        now = now.plusSeconds(10);
        assertThat(probe.read(ZERO).memory()).isEmpty();

        tool.saying("-q", Recordings.text(T4));
        now = now.plusSeconds(1);

        assertThat(probe.read(ZERO).memory()).isPresent();
        assertThat(tool.runs).hasSize(3);
    }

    @Test
    void whereTheXmlGivesNoDevicesTheQueriesDo() throws ProbeUnavailableException {
        tool.saying("-q", "Unable to determine the device handle for GPU1: 0000:34:00.0: Unknown Error\n")
                .saying("--query-compute-apps", "gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n")
                .saying(
                        "--query-gpu",
                        """
                        index, uuid, name, memory.total [MiB], memory.used [MiB], memory.free [MiB], mig.mode.current
                        0, GPU-0, A100, 81920 MiB, 3 MiB, 81051 MiB, Disabled
                        """);
        SmiProbe probe = open(tool);

        assertThat(probe.devices()).extracting(DeviceInfo::index).containsExactly(0);
        assertThat(probe.problems())
                .containsExactly(new DeviceProblem(
                        1,
                        Optional.empty(),
                        false,
                        "Unable to determine the device handle for GPU1: 0000:34:00.0: Unknown Error"));
        DeviceReading reading = probe.read(new DeviceId("GPU-0"));
        assertThat(reading.memory())
                .contains(
                        new MemoryUse(mebibytes(81_920), Optional.of(mebibytes(866)), mebibytes(3), mebibytes(81_051)));
        assertThat(reading.processes()).contains(List.of());
    }

    @Test
    void instancesAreNamedByTheListAndReadFromTheXml() throws ProbeUnavailableException {
        tool.saying("-q", Recordings.text("/nvidia-smi/telegraf-xml/a100-sxm4-v12.xml"))
                .saying(
                        "-L",
                        """
                        GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-00000000-0000-0000-0000-000000000000)
                          MIG 2g.20gb     Device  0: (UUID: MIG-0)
                          MIG 2g.20gb     Device  1: (UUID: MIG-1)
                          MIG 2g.20gb     Device  2: (UUID: MIG-2)
                        """);
        SmiProbe probe = open(tool);

        assertThat(probe.devices())
                .extracting(device -> device.id() + " " + device.index() + " " + device.kind())
                .containsExactly("MIG-0 1 MIG", "MIG-1 1 MIG", "MIG-2 1 MIG");
        assertThat(probe.devices().get(2).mig())
                .contains(new MigSlice(ZERO, OptionalInt.of(5), OptionalInt.of(0), Optional.of("2g.20gb")));
        assertThat(probe.read(new DeviceId("MIG-2")).memory().orElseThrow().total())
                .isEqualTo(mebibytes(19_968));
        // The fourth has no name that lasts; the parent is no device.
        assertThat(probe.problems()).hasSize(3);

        tool.saying("-L", "GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-00000000-0000-0000-0000-000000000000)\n");
        now = now.plusSeconds(2);
        assertThat(probe.read(new DeviceId("MIG-2")).problems())
                .containsExactly("nvidia-smi no longer shows device MIG-2");
        assertThat(probe.rescan()).isEmpty();
    }

    @Test
    void aToolThatGivesNoAnswerMakesNoProbe() {
        assertThatThrownBy(() -> open(tool))
                .isInstanceOfSatisfying(ProbeUnavailableException.class, e -> assertThat(e.reason())
                        .isEqualTo(ProbeUnavailableException.Reason.SMI_FAILED))
                .hasMessage("the tool hangs");
    }

    @Test
    void noDevicesAreNoFailure() throws ProbeUnavailableException {
        SmiProbe probe = open(tool.saying("-q", "No devices were found\n"));

        assertThat(probe.devices()).isEmpty();
        assertThat(probe.problems()).extracting(DeviceProblem::text).contains("No devices were found");
    }

    @Test
    void aClosedProbeRunsNothing() throws ProbeUnavailableException {
        SmiProbe probe = open(tool.saying("-q", Recordings.text(T4)));
        probe.close();
        now = now.plusSeconds(60);

        assertThat(probe.read(ZERO).problems()).containsExactly("the probe is closed");
        assertThat(probe.read(new DeviceId("GPU-x")).problems())
                .containsExactly("device GPU-x is not one of this probe's devices");
        assertThat(tool.runs).hasSize(1);
    }

    private SmiProbe open(FakeTool fake) throws ProbeUnavailableException {
        return SmiProbe.open(fake, () -> now, Optional::empty);
    }

    private static MemoryBytes mebibytes(long number) {
        return MemoryBytes.ofMebibytes(number);
    }
}
