package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.SimulatedSpec;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SimulatedProbeTest {
    private static final MemoryBytes CAPACITY = MemoryBytes.ofGibibytes(10);

    private final SimulatedProbe probe = probe("node-a", "2xSIM-10G");
    private final DeviceId first = probe.devices().get(0).id();
    private final DeviceId second = probe.devices().get(1).id();

    @Test
    void devicesAreSimulatedAndSayItAndHaveUuidsAsADriverGivesThem() {
        assertThat(probe.devices()).extracting(DeviceInfo::kind).containsOnly(DeviceKind.SIMULATED);
        assertThat(probe.devices()).extracting(DeviceInfo::index).containsExactly(0, 1);
        assertThat(probe.devices()).extracting(DeviceInfo::pciBusId).containsOnly(Optional.empty());
        assertThat(first.value()).matches("GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
        assertThat(probe.description()).isEqualTo("simulated, 2 devices that do not exist");
        assertThat(probe.problems()).isEmpty();
    }

    @Test
    void theSameNodeHasTheSameUuidsAndAnotherNodeHasOthers() {
        assertThat(probe("node-a", "8xH100-80G").devices().get(1).id()).isEqualTo(second);
        assertThat(new HashSet<>(List.of(first, second))).hasSize(2);
        assertThat(probe("node-b", "2xSIM-10G").devices())
                .extracting(DeviceInfo::id)
                .doesNotContain(first, second);
    }

    @Test
    void anIdleDeviceIsAllFreeAndHeldByNobody() {
        assertThat(probe.read(first)).isEqualTo(reading(0, List.of(), List.of()));
    }

    @Test
    void whatRanksReportIsWhatTheDeviceUses() {
        probe.charge(first, 200, MemoryBytes.ofGibibytes(3));
        probe.charge(first, 100, MemoryBytes.ofGibibytes(9));
        probe.charge(first, 100, MemoryBytes.ofGibibytes(2));
        probe.charge(second, 100, MemoryBytes.ofGibibytes(1));
        assertThat(probe.read(first)).isEqualTo(reading(5, List.of(process(100, 2), process(200, 3)), List.of()));

        probe.discharge(100);
        assertThat(probe.read(first)).isEqualTo(reading(3, List.of(process(200, 3)), List.of()));
        assertThat(probe.read(second)).isEqualTo(reading(0, List.of(), List.of()));
    }

    @Test
    void aStrangerComesAndGoes() {
        probe.setForeign(first, 999, MemoryBytes.ofGibibytes(4));
        assertThat(probe.read(first)).isEqualTo(reading(4, List.of(process(999, 4)), List.of()));
        probe.setForeign(first, 999, MemoryBytes.ZERO);
        assertThat(probe.read(first)).isEqualTo(reading(0, List.of(), List.of()));
    }

    @Test
    void chargesAboveTheCapacityFillTheDeviceAndAreAProblem() {
        probe.charge(first, 1, MemoryBytes.ofGibibytes(8));
        probe.charge(first, 2, MemoryBytes.of(Long.MAX_VALUE));
        DeviceReading reading = probe.read(first);
        assertThat(reading.memory())
                .contains(new MemoryUse(CAPACITY, Optional.of(MemoryBytes.ZERO), CAPACITY, MemoryBytes.ZERO));
        assertThat(reading.problems())
                .containsExactly("the 2 simulated processes say they hold more than the device's 10.0 GiB;"
                        + " a real one would be out of memory");
    }

    @Test
    void chargesThatFillTheDeviceExactlyAreNoProblem() {
        probe.charge(first, 1, MemoryBytes.ofGibibytes(8));
        probe.charge(first, 2, MemoryBytes.ofGibibytes(2));
        probe.charge(first, 3, MemoryBytes.ZERO);
        assertThat(probe.read(first).problems()).isEmpty();
    }

    @Test
    void anUnknownDeviceIsAnEmptyReadingAndAWrongCharge() {
        DeviceId unknown = new DeviceId("GPU-unknown");
        DeviceReading reading = probe.read(unknown);
        assertThat(reading.memory()).isEmpty();
        assertThat(reading.processes()).isEmpty();
        assertThat(reading.problems()).hasSize(1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> probe.charge(unknown, 1, MemoryBytes.ZERO))
                .withMessage("device GPU-unknown is not simulated here");
        assertThatIllegalArgumentException().isThrownBy(() -> probe.charge(first, 0, MemoryBytes.ZERO));
    }

    /**
     * Method: ranks charge and leave from many threads while the device is read; the parts must always make the whole.
     */
    @Test
    void partsMakeTheWholeWhileRanksComeAndGo() {
        CompletableFuture<?>[] ranks = IntStream.rangeClosed(1, 8)
                .mapToObj(pid -> CompletableFuture.runAsync(() -> comeAndGo(pid)))
                .toArray(CompletableFuture<?>[]::new);
        CompletableFuture<Void> all = CompletableFuture.allOf(ranks);
        while (!all.isDone()) {
            MemoryUse memory = probe.read(first).memory().orElseThrow();
            assertThat(memory.used().plus(memory.free())).isEqualTo(CAPACITY);
        }
        all.join();
        assertThat(probe.read(first)).isEqualTo(reading(0, List.of(), List.of()));
    }

    private void comeAndGo(long pid) {
        for (int i = 0; i < 1000; i++) {
            probe.charge(first, pid, MemoryBytes.ofMebibytes(i * pid));
            probe.discharge(pid);
        }
    }

    private static SimulatedProbe probe(String node, String spec) {
        return SimulatedProbe.create(new NodeId(node), SimulatedSpec.parse(spec));
    }

    private static ProcessUse process(long pid, long gibibytes) {
        return new ProcessUse(pid, Optional.of(MemoryBytes.ofGibibytes(gibibytes)));
    }

    private static DeviceReading reading(long usedGibibytes, List<ProcessUse> processes, List<String> problems) {
        MemoryBytes used = MemoryBytes.ofGibibytes(usedGibibytes);
        return new DeviceReading(
                Optional.of(new MemoryUse(CAPACITY, Optional.of(MemoryBytes.ZERO), used, CAPACITY.minus(used))),
                Optional.of(processes),
                problems);
    }
}
