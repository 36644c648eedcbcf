package dev.ullage.worker.probe;

import static dev.ullage.common.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.worker.sampling.DeviceReaders;
import dev.ullage.worker.testing.LogWatch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Goal: whatever a driver answers, no figure is invented, no device hides or renumbers another, nothing throws. Method:
 * each call answers with each code, each figure is one that cannot be, each call hangs, on one of several devices.
 */
class NvmlFaultsTest {
    private static final NvmlHost HOST =
            new NvmlHost(Optional::empty, CudaFacts.none("no CUDA"), Duration.ofSeconds(20));
    private static final String ULLONG_MAX = "18446744073709551615";
    private static final DeviceId FIRST = new DeviceId(FakeNvml.uuid(0));
    private static final DeviceId LAST = new DeviceId(FakeNvml.uuid(2));
    private static final String SLICE = "MIG-10000000-1111-5000-9000-000000000000";
    private static final MemoryUse IDLE_LAST = idle();

    /** Of one device each; the first three also where it is looked for. */
    private static final List<String> OF_A_DEVICE = List.of(
            "nvmlDeviceGetHandleByIndex_v2",
            "nvmlDeviceGetUUID",
            "nvmlDeviceGetMigMode",
            "nvmlDeviceGetName",
            "nvmlDeviceGetPciInfo_v3",
            "nvmlDeviceGetMaxMigDeviceCount",
            "nvmlDeviceGetMigDeviceHandleByIndex",
            "nvmlDeviceGetMemoryInfo_v2",
            "nvmlDeviceGetMemoryInfo",
            "nvmlDeviceGetComputeRunningProcesses_v3",
            "nvmlDeviceGetGraphicsRunningProcesses_v3",
            "nvmlDeviceRegisterEvents");

    private static final List<String> OF_A_SLICE = List.of(
            "nvmlDeviceGetDeviceHandleFromMigDeviceHandle",
            "nvmlDeviceGetGpuInstanceId",
            "nvmlDeviceGetComputeInstanceId",
            "nvmlDeviceGetAttributes_v2");

    @RegisterExtension
    final LogWatch log = new LogWatch();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private static MemoryUse idle() {
        return NvmlMemory.fromVersion2(
                        new NvmlCalls.RawMemory(24146608128L, 541917184, 23604690944L, 0), new ArrayList<>())
                .orElseThrow();
    }

    /** Three cards, the one in the middle with processes, or in MIG mode with one instance that has them. */
    private FakeNvml three(boolean isMig) {
        FakeNvml nvml = FakeNvml.compile(folder).withDevices(3).with("event", "0:0:0");
        String middle = isMig ? "device.1.mig0." : "device.1.";
        if (isMig) {
            nvml.with("device.1.mig", 1)
                    .with("device.1.compute", "100:500:3,900:300:4")
                    .with("device.1.migmax", 7)
                    .with(middle + "uuid", SLICE)
                    .with(middle + "gi", 3)
                    .with(middle + "ci", 0);
        }
        return nvml.with(middle + "memory", "10000,100,900,9000")
                .with(middle + "compute", "100:500:3,200:300:3")
                .with(middle + "graphics", "300:100:3");
    }

    /** Nothing is known of the middle device but what is right, and the others are as ever. */
    private static void isHonest(NvmlProbe probe, String what) {
        assertThat(probe.devices().get(0).id()).as(what).isEqualTo(FIRST);
        DeviceInfo last = probe.devices().get(probe.devices().size() - 1);
        assertThat(last.id()).as(what).isEqualTo(LAST);
        assertThat(last.index()).as(what).isEqualTo(2);
        assertThat(probe.read(LAST))
                .as(what)
                .isEqualTo(new DeviceReading(Optional.of(IDLE_LAST), Optional.of(List.of()), List.of()));
        List<DeviceInfo> middle = probe.devices().subList(1, probe.devices().size() - 1);
        boolean isSaid = probe.problems().stream().anyMatch(problem -> problem.index() == 1);
        assertThat(middle.isEmpty()).as(what + ": hidden without a word").isEqualTo(middle.isEmpty() && isSaid);
        for (DeviceInfo device : middle) {
            assertThat(device.index()).as(what).isEqualTo(1);
            DeviceReading reading = probe.read(device.id());
            boolean isAllKnown =
                    reading.memory().isPresent() && reading.processes().isPresent();
            assertThat(isAllKnown || !reading.problems().isEmpty())
                    .as(what + ": unknown without a word")
                    .isTrue();
            reading.memory().ifPresent(memory -> {
                assertThat(memory.total().value()).as(what).isEqualTo(10000);
                assertThat(memory.free().value()).as(what).isEqualTo(9000);
                assertThat(memory.used().value())
                        .as(what)
                        .isEqualTo(memory.reserved().isPresent() ? 900 : 1000);
            });
            reading.processes()
                    .ifPresent(processes -> assertThat(processes).as(what).isNotEmpty());
        }
    }

    private static List<Integer> codes() {
        return Stream.concat(Stream.of(NvmlReturn.values()).map(NvmlReturn::code), Stream.of(77, -5))
                .filter(code -> code != NvmlReturn.SUCCESS.code())
                .toList();
    }

    @Test
    void eachCallOfACardMayAnswerWithEachCode() throws Exception {
        FakeNvml nvml = three(false);
        for (String call : OF_A_DEVICE) {
            for (int code : codes()) {
                nvml.with("device.1.rc." + call, code);
                try (NvmlProbe probe = NvmlProbe.open(nvml.path(), HOST)) {
                    isHonest(probe, call + "=" + code);
                }
            }
            nvml.without("device.1.rc." + call);
        }
    }

    @Test
    void eachCallOfASliceMayAnswerWithEachCode() throws Exception {
        FakeNvml nvml = three(true);
        List<String> calls = new ArrayList<>(OF_A_DEVICE);
        calls.addAll(OF_A_SLICE);
        for (String call : calls) {
            for (int code : codes()) {
                nvml.with("device.1.mig0.rc." + call, code);
                try (NvmlProbe probe = NvmlProbe.open(nvml.path(), HOST)) {
                    isHonest(probe, call + "=" + code);
                    assertThat(probe.devices().stream().filter(device -> device.index() == 1))
                            .as(call + "=" + code)
                            .allMatch(device -> device.kind() == DeviceKind.MIG);
                }
            }
            nvml.without("device.1.mig0.rc." + call);
        }
    }

    @Test
    void aFigureThatCannotBeMakesTheReadingUnknownOrMarked() throws Exception {
        FakeNvml nvml = three(false);
        DeviceId middle = new DeviceId(FakeNvml.uuid(1));
        String huge = Long.toString(1L << 62);
        try (NvmlProbe probe = NvmlProbe.open(nvml.path(), HOST)) {
            for (String bad : List.of(ULLONG_MAX, huge, "9223372036854775808", "10001")) {
                String[] figures = {"10000", "100", "900", "9000"};
                for (int at = 0; at < figures.length; at++) {
                    String[] with = figures.clone();
                    with[at] = bad;
                    nvml.with("device.1.memory", String.join(",", with));
                    DeviceReading reading = probe.read(middle);
                    assertThat(reading.problems()).as(String.join(",", with)).isNotEmpty();
                    assertThat(reading.memory().isPresent())
                            .as(String.join(",", with))
                            .isEqualTo(at == 0 && bad.equals("10001"));
                }
            }
            nvml.with("device.1.memory", "10000,100,900,9000")
                    .with("device.1.compute", "1:%s,2:%s,3:%s,4:%s".formatted(huge, huge, ULLONG_MAX, huge));
            assertThat(probe.read(middle).processes().orElseThrow())
                    .hasSize(5)
                    .as("the fifth is in the other list")
                    .allMatch(process -> process.pid() == 300 || process.used().isEmpty());
        }
    }

    @Test
    void aNumberOfDevicesThatCannotBeIsNone() throws Exception {
        for (String count : List.of("4294967295", "1025")) {
            FakeNvml nvml = FakeNvml.compile(Files.createDirectory(folder.resolve(count)))
                    .withDevices(1)
                    .with("count", count);
            ProbeUnavailableException e =
                    catchThrowableOfType(ProbeUnavailableException.class, () -> NvmlProbe.open(nvml.path(), HOST));
            assertThat(e.fact())
                    .isEqualTo("the number of devices cannot be had [nvmlDeviceGetCount_v2: SUCCESS (0, " + count
                            + " devices, which cannot be)]");
        }
        FakeNvml nvml = three(false);
        try (NvmlProbe probe = NvmlProbe.open(nvml.path(), HOST)) {
            nvml.with("count", "4294967295");
            assertThat(probe.rescan()).as("those seen last stay").hasSize(3);
        }
    }

    @Test
    void bytesThatAreNoTextAreShownAndDoNotCostTheDevice() throws Exception {
        FakeNvml nvml = three(false).with("device.1.name.hex", "4131ff3080");
        try (NvmlProbe probe = NvmlProbe.open(nvml.path(), HOST)) {
            assertThat(probe.devices().get(1).name()).isEqualTo("A1\ufffd0\ufffd");
            nvml.with("device.1.uuid.hex", "1b5b334a");
            assertThat(probe.rescan()).extracting(DeviceInfo::index).containsExactly(0, 2);
            assertThat(probe.problems())
                    .extracting(DeviceProblem::toString)
                    .containsExactly("device 1: nvmlDeviceGetUUID: a device's UUID must not contain control characters;"
                            + " a device is left out");
        }
    }

    @Test
    void aDeviceThatComesBackWithAnotherIndexIsTheSameDevice() throws Exception {
        FakeNvml nvml = three(false);
        try (NvmlProbe probe = NvmlProbe.open(nvml.path(), HOST)) {
            nvml.with("count", 1).with("device.0.uuid", LAST);
            assertThat(probe.rescan()).extracting(DeviceInfo::id).containsExactly(LAST);
            assertThat(probe.read(FIRST).problems().get(0)).contains("is no longer listed");

            nvml.with("count", 2).with("device.1.uuid", FIRST).with("device.1.memory", "7000,0,0,7000");
            assertThat(probe.rescan()).extracting(DeviceInfo::id).containsExactly(LAST, FIRST);
            assertThat(probe.read(FIRST).memory().orElseThrow().total().value()).isEqualTo(7000);
            nvml.with("device.1.mig", 1).with("device.1.migmax", 7);
            assertThat(probe.rescan()).extracting(DeviceInfo::id).containsExactly(LAST);
            assertThat(probe.read(FIRST).problems())
                    .as("the reason stands at its new index")
                    .containsExactly("device " + FIRST + " is no longer listed: " + NvmlDevices.IN_MIG_MODE);
        }
    }

    @Test
    void aCardThatNoLongerTellsItsModeDoesNotBecomeADeviceBesideItsSlices() throws Exception {
        FakeNvml nvml = three(true);
        try (NvmlProbe probe = NvmlProbe.open(nvml.path(), HOST)) {
            List<DeviceInfo> before = probe.devices();
            for (String call : List.of("nvmlDeviceGetMigMode", "nvmlDeviceGetMaxMigDeviceCount")) {
                nvml.with("device.1.rc." + call, NvmlReturn.GPU_IS_LOST.code());
            }
            assertThat(probe.rescan()).isEqualTo(before);
            assertThat(probe.problems())
                    .extracting(DeviceProblem::text)
                    .contains("nvmlDeviceGetMigMode: GPU_IS_LOST (15, GPU is lost); whether it is in MIG mode is"
                            + " unknown, its instances stay as last seen");
        }
    }

    @Test
    void whereOnlyTheCardListsProcessesAndNotTheirInstanceThoseOfASliceAreUnknown() throws Exception {
        FakeNvml nvml = three(true)
                .with("device.1.mig0.rc.nvmlDeviceGetComputeRunningProcesses_v3", NvmlReturn.NOT_SUPPORTED.code())
                .with("device.1.compute", "400:500:3,500:600");
        try (NvmlProbe probe = NvmlProbe.open(nvml.path(), HOST)) {
            DeviceReading reading = probe.read(new DeviceId(SLICE));
            assertThat(reading.processes()).isEmpty();
            assertThat(reading.memory()).isPresent();
            assertThat(reading.problems())
                    .containsExactly("the processes are listed for the whole card and not with their instance; those of"
                            + " this one are unknown");
            nvml.with("device.1.compute", "400:500:3,500:600:4");
            assertThat(probe.read(new DeviceId(SLICE)).processes().orElseThrow())
                    .hasSize(1);
        }
    }

    @Test
    void aCardThatCannotBeListenedToHoldsUpNobody() throws Exception {
        FakeNvml nvml = three(false).with("device.1.rc.nvmlDeviceRegisterEvents", "hang");
        try (NvmlProbe probe = NvmlProbe.open(nvml.path(), HOST)) {
            assertThat(probe.rescan()).hasSize(3);
            nvml.with("event", "1:2:79");
            eventually(
                    "the others are listened to",
                    () -> !probe.read(LAST).problems().isEmpty());
        } finally {
            nvml.without("device.1.rc.nvmlDeviceRegisterEvents");
        }
    }

    @Test
    void aDriverThatHangsOverItsEventsHoldsUpNobody() throws Exception {
        FakeNvml nvml = three(false).with("rc.nvmlEventSetCreate", "hang");
        try (NvmlProbe probe = NvmlProbe.open(nvml.path(), HOST)) {
            assertThat(probe.rescan()).hasSize(3);
            assertThat(probe.read(LAST).memory()).contains(IDLE_LAST);
        } finally {
            nvml.without("rc.nvmlEventSetCreate");
        }
    }

    @Test
    void oneLostCardDoesNotEndTheListening() throws Exception {
        FakeNvml nvml = three(false).with("rc.nvmlEventSetWait_v2", NvmlReturn.GPU_IS_LOST.code());
        try (NvmlProbe probe = NvmlProbe.open(nvml.path(), HOST)) {
            eventually("it was told so twice", () -> nvml.hasCalled("nvmlEventSetWait_v2", 2));
            nvml.without("rc.nvmlEventSetWait_v2").with("event", "1:2:79");
            eventually("and hears the next", () -> !probe.read(LAST).problems().isEmpty());
            assertThat(log.warnings()).noneMatch(warning -> warning.contains("no longer told"));
        }
    }

    @Test
    void aStormOfErrorsIsToldAndDoesNotFillTheLog() throws Exception {
        FakeNvml nvml = three(false).with("event", "storm:2:31");
        try (NvmlProbe probe = NvmlProbe.open(nvml.path(), HOST)) {
            eventually("many came", () -> log.warnings().stream().anyMatch(warning -> warning.contains("count=32")));
            assertThat(log.warnings()).hasSizeLessThan(12);
            nvml.with("event", "storm:2:48");
            eventually("another one is told as well", () -> log.warnings().stream()
                    .anyMatch(warning -> warning.contains("xid=48 count=1")));
            assertThat(probe.read(LAST).problems()).hasSize(1);
        }
    }

    @Test
    void aShutdownThatHangsIsNotWaitedFor() throws Exception {
        FakeNvml nvml = three(false).with("rc.nvmlShutdown", "hang");
        try {
            DeviceReaders.letGo(NvmlProbe.open(nvml.path(), HOST));
            assertThat(nvml.log()).contains("nvmlShutdown");
        } finally {
            nvml.without("rc.nvmlShutdown");
        }
    }
}
