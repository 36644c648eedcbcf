package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.worker.probe.DeviceResolution.Refused;
import dev.ullage.worker.probe.DeviceResolution.Resolved;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DeviceResolverTest {
    private static final List<DeviceInfo> FOUR = devices(0, 1, 2, 3);

    @Test
    void withoutAListTheLocalRankIsTheIndex() {
        for (int localRank = 0; localRank < 4; localRank++) {
            assertThat(index(resolve(localRank, null, null, FOUR))).isEqualTo(localRank);
        }
        assertThat(refusal(resolve(4, null, null, FOUR)))
                .isEqualTo(
                        "local rank 4: this worker has 4 devices (0 to 3); set CUDA_VISIBLE_DEVICES or ULLAGE_DEVICE");
    }

    @Test
    void aMissingDeviceDoesNotMoveTheOthers() {
        List<DeviceInfo> oneLost = devices(0, 2, 3);
        assertThat(index(resolve(2, null, null, oneLost))).isEqualTo(2);
        assertThat(refusal(resolve(1, null, null, oneLost)))
                .isEqualTo("local rank 1: this worker has 3 devices (0, 2, 3);"
                        + " set CUDA_VISIBLE_DEVICES or ULLAGE_DEVICE");
        assertThat(refusal(resolve(0, null, null, List.of()))).contains("this worker has no devices");
    }

    @Test
    void withAListTheLocalRankIsAPlaceInIt() {
        assertThat(index(resolve(0, "2,0", null, FOUR))).isEqualTo(2);
        assertThat(index(resolve(1, "2,0", null, FOUR))).isZero();
        assertThat(index(resolve(1, "4,5", null, devices(0, 1, 2, 3, 4, 5, 6, 7))))
                .isEqualTo(5);
        assertThat(refusal(resolve(2, "2,0", null, FOUR)))
                .isEqualTo("local rank 2: CUDA_VISIBLE_DEVICES='2,0' leaves 2 devices (2, 0) of this worker's 4 devices"
                        + " (0 to 3); set CUDA_VISIBLE_DEVICES or ULLAGE_DEVICE");
    }

    @Test
    void aListOfOneIsThatDeviceWhateverTheLocalRank() {
        assertThat(index(resolve(7, "3", null, FOUR))).isEqualTo(3);
        assertThat(index(resolve(7, "GPU-1", null, FOUR))).isEqualTo(1);
    }

    /** Otherwise ranks 1 and 2 of a job would pile up on device 0 because somebody mistyped a number. */
    @Test
    void aListCutToOneIsNotAListOfOne() {
        assertThat(index(resolve(0, "0,9,1", null, FOUR))).isZero();
        assertThat(refusal(resolve(1, "0,9,1", null, FOUR)))
                .isEqualTo("local rank 1: CUDA_VISIBLE_DEVICES='0,9,1' leaves 1 device (0) of this worker's 4 devices"
                        + " (0 to 3), as CUDA_VISIBLE_DEVICES token 2 '9' ends the list: no device of this worker has this"
                        + " index; set CUDA_VISIBLE_DEVICES or ULLAGE_DEVICE");
    }

    @Test
    void aListOfNothingIsNoDeviceAndNotAll() {
        assertThat(refusal(resolve(0, "", null, FOUR)))
                .isEqualTo(
                        "local rank 0: CUDA_VISIBLE_DEVICES='' leaves no devices of this worker's 4 devices (0 to 3);"
                                + " set CUDA_VISIBLE_DEVICES or ULLAGE_DEVICE");
        assertThat(resolve(0, "-1", null, FOUR)).isInstanceOf(Refused.class);
        assertThat(resolve(0, "NoDevFiles", null, FOUR)).isInstanceOf(Refused.class);
    }

    /** Case B06: mpirun -x carries the launch host's list to a host that has other devices. */
    @Test
    void aListOfAnotherHostsDevicesIsRefusedByName() {
        assertThat(refusal(resolve(0, "GPU-host1-a,GPU-host1-b", null, FOUR)))
                .contains("'GPU-host1-a' ends the list: no device of this worker has such a UUID");
    }

    @Test
    void aDeviceAskedForByNameWins() {
        assertThat(index(resolve(0, "0,1,2", "2", FOUR))).isEqualTo(2);
        assertThat(index(resolve(0, null, "GPU-3", FOUR))).isEqualTo(3);
        assertThat(index(resolve(0, null, " GPU-30000000-0000-4000-8000-000000000000 ", FOUR)))
                .isEqualTo(3);
        assertThat(resolve(0, "0,1,2", "2", FOUR).warnings()).isEmpty();
    }

    @Test
    void aDeviceThatTheListHidesIsGivenWithAWarning() {
        DeviceResolution resolution = resolve(0, "0,1", "3", FOUR);
        assertThat(index(resolution)).isEqualTo(3);
        assertThat(resolution.warnings())
                .containsExactly("ULLAGE_DEVICE '3' is device 3, which CUDA_VISIBLE_DEVICES hides from the process;"
                        + " it leaves 2 devices (0, 1)");
    }

    @Test
    void aDeviceThatDoesNotExistOrIsNotOneIsRefused() {
        assertThat(refusal(resolve(0, null, "4", FOUR)))
                .isEqualTo("ULLAGE_DEVICE '4': no device of this worker has this index;"
                        + " this worker has 4 devices (0 to 3)");
        assertThat(refusal(resolve(0, null, "GPU-", FOUR)))
                .isEqualTo("ULLAGE_DEVICE 'GPU-': 4 devices of this worker have a UUID that begins so;"
                        + " this worker has 4 devices (0 to 3)");
        assertThat(refusal(resolve(0, null, "", FOUR)))
                .isEqualTo("ULLAGE_DEVICE '': it is empty; unset it or name a device;"
                        + " this worker has 4 devices (0 to 3)");
        assertThat(refusal(resolve(0, null, "-1", FOUR))).contains("no device of this worker has such a UUID");
    }

    @Test
    void warningsOfTheListComeWithTheDevice() {
        assertThat(resolve(0, "2,two", null, FOUR).warnings()).hasSize(1);
    }

    @Test
    void withoutALocalRankOnlyANamedDeviceOrAListOfOneWillDo() {
        DeviceRequest bare = new DeviceRequest(Optional.empty(), OptionalInt.empty(), Optional.empty());
        DeviceRequest one = new DeviceRequest(Optional.of("2"), OptionalInt.empty(), Optional.empty());
        DeviceRequest two = new DeviceRequest(Optional.of("2,3"), OptionalInt.empty(), Optional.empty());

        assertThat(DeviceResolver.resolve(one, FOUR, Optional::empty))
                .isInstanceOfSatisfying(
                        DeviceResolution.Resolved.class,
                        resolved -> assertThat(resolved.device().index()).isEqualTo(2));
        assertThat(DeviceResolver.resolve(bare, FOUR, Optional::empty))
                .isInstanceOfSatisfying(DeviceResolution.Refused.class, refused -> assertThat(refused.reason())
                        .startsWith("a rank whose local rank is not known: this worker has 4 devices"));
        assertThat(DeviceResolver.resolve(two, FOUR, Optional::empty)).isInstanceOf(DeviceResolution.Refused.class);
    }

    @Test
    void aLocalRankIsNeverNegative() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new DeviceRequest(Optional.empty(), OptionalInt.of(-1), Optional.empty()))
                .withMessage("a local rank is 0 or more: -1");
    }

    private static DeviceResolution resolve(
            int localRank, @Nullable String visibleDevices, @Nullable String device, List<DeviceInfo> devices) {
        return DeviceResolver.resolve(
                new DeviceRequest(
                        Optional.ofNullable(visibleDevices), OptionalInt.of(localRank), Optional.ofNullable(device)),
                devices,
                Optional::empty);
    }

    private static int index(DeviceResolution resolution) {
        assertThat(resolution).isInstanceOf(Resolved.class);
        return ((Resolved) resolution).device().index();
    }

    private static String refusal(DeviceResolution resolution) {
        assertThat(resolution).isInstanceOf(Refused.class);
        return ((Refused) resolution).reason();
    }

    private static List<DeviceInfo> devices(int... indices) {
        return IntStream.of(indices)
                .mapToObj(index -> new DeviceInfo(
                        new DeviceId("GPU-%d0000000-0000-4000-8000-000000000000".formatted(index)),
                        index,
                        "H100",
                        DeviceKind.DISCRETE,
                        Optional.empty()))
                .toList();
    }
}
