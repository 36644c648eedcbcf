package dev.ullage.worker.host;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.HostCapacity;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.config.WorkerSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Machines as the kernel shows them, made of files: 16 processors and 64 GiB, of which 48 GiB are available. */
class HostReaderTest {
    private static final MemoryBytes TOTAL = MemoryBytes.ofGibibytes(64);
    private static final MemoryBytes AVAILABLE = MemoryBytes.ofGibibytes(48);

    private static final String RUN_TIME = "quo" + "ta_us";

    private final Path root;
    private final Path groups;

    HostReaderTest(@TempDir Path root) {
        this.root = root;
        this.groups = root.resolve("sys/fs/cgroup");
    }

    @BeforeEach
    void aMachine() throws IOException {
        write("proc/meminfo", "MemTotal: 67108864 kB\nMemFree: 1 kB\nMemAvailable: 50331648 kB\n");
        write("sys/devices/system/cpu/online", "0-15\n");
        write("proc/self/mountinfo", "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n");
        write("proc/self/cgroup", "0::/\n");
    }

    @Test
    void whereNoGroupsAreMountedTheMachineItselfIsWhatThereIs() {
        assertThat(read()).isEqualTo(host(16_000, TOTAL, AVAILABLE));
    }

    @Test
    void ofVersion2TheLeastOfAllGroupsAroundCounts() throws IOException {
        version2("/", "/machine.slice/worker.service");
        write("sys/fs/cgroup/cpuset.cpus.effective", "0-15");
        write("sys/fs/cgroup/machine.slice/cpu.max", "400000 100000");
        write("sys/fs/cgroup/machine.slice/cpuset.cpus.effective", "0-7");
        memory2("machine.slice", gibibytes(32), gibibytes(20), gibibytes(4));
        write("sys/fs/cgroup/machine.slice/worker.service/cpu.max", "max 100000");
        write("sys/fs/cgroup/machine.slice/worker.service/memory.max", "max");

        // 32 GiB less what is used, of which 4 GiB are file pages that nobody has touched for long.
        assertThat(read()).isEqualTo(host(4_000, MemoryBytes.ofGibibytes(32), MemoryBytes.ofGibibytes(16)));

        write("sys/fs/cgroup/machine.slice/worker.service/cpu.max", "50000 100000");
        memory2("machine.slice/worker.service", gibibytes(8), gibibytes(1), 0);
        assertThat(read()).isEqualTo(host(500, MemoryBytes.ofGibibytes(8), MemoryBytes.ofGibibytes(7)));
    }

    @Test
    void aSetOfProcessorsBoundsAsALimitOfTheirTimeDoesAndThoseOfflineAreNone() throws IOException {
        version2("/", "/job");
        write("sys/fs/cgroup/job/cpuset.cpus.effective", "0-3,8,12-14\n");
        write("sys/fs/cgroup/job/cpu.max", "max 100000");
        assertThat(read().cpuMilli()).hasValue(8_000);

        write("sys/devices/system/cpu/online", "0-2,4-12");
        assertThat(read().cpuMilli()).hasValue(5_000);
    }

    @Test
    void aLimitAboveTheMachineIsNone() throws IOException {
        version2("/", "/job");
        write("sys/fs/cgroup/job/cpu.max", "9900000 100000");
        memory2("job", Long.MAX_VALUE, gibibytes(60), 0);

        assertThat(read()).isEqualTo(host(16_000, TOTAL, AVAILABLE));
    }

    @Test
    void ofVersion1EachControllerHasItsOwnGroups() throws IOException {
        version1("/job/rank");
        write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_" + RUN_TIME, "-1");
        write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
        write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_" + RUN_TIME, "250000");
        write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000");
        write("sys/fs/cgroup/cpuset/job/rank/cpuset.cpus", "0-7");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
        write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", String.valueOf(gibibytes(10)));
        write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", String.valueOf(gibibytes(6)));
        write("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file " + gibibytes(2) + "\n");

        assertThat(read()).isEqualTo(host(2_500, MemoryBytes.ofGibibytes(10), MemoryBytes.ofGibibytes(6)));

        // What is in force, where the kernel says it.
        write("sys/fs/cgroup/cpuset/job/rank/cpuset.effective_cpus", "0-1");
        assertThat(read().cpuMilli()).hasValue(2_000);
    }

    @Test
    void ofBothVersionsBesideEachOtherTheLesserCounts() throws IOException {
        write(
                "proc/self/mountinfo",
                "31 23 0:28 / %1$s rw - tmpfs tmpfs rw,mode=755\n".formatted(groups)
                        + "35 31 0:32 / %s/memory rw,relatime shared:7 - cgroup cgroup rw,memory\n".formatted(groups)
                        + "41 31 0:38 / %s/unified rw,relatime - cgroup2 cgroup2 rw\n".formatted(groups));
        write("proc/self/cgroup", "4:memory:/user\n1:name=systemd:/user\n0::/user\n");
        write("sys/fs/cgroup/memory/user/memory.limit_in_bytes", String.valueOf(gibibytes(16)));
        write("sys/fs/cgroup/memory/user/memory.usage_in_bytes", String.valueOf(gibibytes(1)));
        write("sys/fs/cgroup/unified/user/cpu.max", "300000 100000");

        assertThat(read()).isEqualTo(host(3_000, MemoryBytes.ofGibibytes(16), MemoryBytes.ofGibibytes(15)));
    }

    @Test
    void inAContainerTheMountedGroupIsItsOwn() throws IOException {
        // Without a namespace of groups the path is the host's, and so is the root of the mount.
        version2("/docker/4f2a", "/docker/4f2a");
        write("sys/fs/cgroup/cpu.max", "200000 100000");
        assertThat(read().cpuMilli()).hasValue(2_000);

        version2("/docker/4f2a", "/docker/4f2a/inner");
        write("sys/fs/cgroup/inner/cpu.max", "150000 100000");
        assertThat(read().cpuMilli()).hasValue(1_500);

        // A group outside the namespace cannot be seen: what is mounted is what bounds it as far as one can see.
        version2("/", "/../other");
        assertThat(read().cpuMilli()).hasValue(2_000);
        version2("/", "/not/mounted/here");
        assertThat(read().cpuMilli()).hasValue(2_000);
    }

    @Test
    void aNameWithABlankIsFound() throws IOException {
        write("proc/self/mountinfo", "30 23 0:26 / %s/a\\040b rw - cgroup2 none rw\n".formatted(groups));
        write("sys/fs/cgroup/a b/cpu.max", "100000 100000");

        assertThat(read().cpuMilli()).hasValue(1_000);
    }

    @Test
    void whatCannotBeUnderstoodIsNotKnownAndSaysWhy() throws IOException {
        version2("/", "/job");
        write("sys/fs/cgroup/job/cpu.max", "many");
        write("sys/fs/cgroup/job/memory.max", "-5");

        HostReader.Reading reading = reader(WorkerSettings.Host.MEASURED).read();

        assertThat(reading.capacity()).isEqualTo(HostCapacity.UNKNOWN);
        assertThat(reading.problems())
                .satisfiesExactly(
                        cpus -> assertThat(cpus)
                                .startsWith("cpus are not known: ")
                                .contains("job has a limit of processor time", "[many]"),
                        memory -> assertThat(memory)
                                .startsWith("host memory is not known: ")
                                .contains("-5"));

        write("sys/fs/cgroup/job/cpu.max", "100000 0");
        write("sys/fs/cgroup/job/memory.max", String.valueOf(gibibytes(1)));
        assertThat(read()).as("a limit, and nothing of what is used of it").isEqualTo(HostCapacity.UNKNOWN);

        write("sys/fs/cgroup/job/cpu.max", "max 100000");
        write("sys/fs/cgroup/job/cpuset.cpus.effective", "3-1");
        assertThat(read().cpuMilli()).isEmpty();
    }

    @Test
    void nothingIsKnownOfAMachineWithoutTheseFiles() throws IOException {
        Files.delete(root.resolve("proc/meminfo"));
        Files.delete(root.resolve("sys/devices/system/cpu/online"));

        HostReader.Reading reading = reader(WorkerSettings.Host.MEASURED).read();

        assertThat(reading.capacity()).isEqualTo(HostCapacity.UNKNOWN);
        assertThat(reading.problems()).hasSize(2);
    }

    @Test
    void settingsTakeThePlaceOfWhatIsMeasured() throws IOException {
        version2("/", "/worker");
        write("sys/fs/cgroup/worker/cpu.max", "100000 100000");
        memory2("worker", gibibytes(2), gibibytes(1), 0);
        WorkerSettings.Host said = new WorkerSettings.Host(OptionalInt.of(12_000), Optional.of(memory(40)));

        // The worker's own limits are not the jobs'; what the machine has left is.
        assertThat(reader(said).read().capacity()).isEqualTo(host(12_000, memory(40), memory(40)));

        write("proc/meminfo", "MemTotal: 67108864 kB\nMemAvailable: 10485760 kB\n");
        assertThat(reader(said).read().capacity()).isEqualTo(host(12_000, memory(40), memory(10)));

        Files.delete(root.resolve("proc/meminfo"));
        assertThat(reader(said).read().capacity())
                .isEqualTo(new HostCapacity(OptionalInt.of(12_000), Optional.of(memory(40)), Optional.empty()));
    }

    @Test
    void thisMachineSaysWhatItHas() {
        HostReader.Reading here = new HostReader(WorkerSettings.Host.MEASURED).read();

        assertThat(here.problems()).isEmpty();
        assertThat(here.capacity().cpuMilli().orElseThrow())
                .isBetween(1, 1000 * Runtime.getRuntime().availableProcessors() * 64);
        assertThat(here.capacity().memory()).isPresent();
        assertThat(here.capacity().available()).isPresent();
    }

    private void version2(String mountRoot, String group) throws IOException {
        write(
                "proc/self/mountinfo",
                "30 23 0:26 %s %s rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n".formatted(mountRoot, groups));
        write("proc/self/cgroup", "0::" + group + "\n");
    }

    private void version1(String group) throws IOException {
        write(
                "proc/self/mountinfo",
                "32 31 0:29 / %s/cpu,cpuacct rw shared:1 - cgroup cgroup rw,cpu,cpuacct\n".formatted(groups)
                        + "34 31 0:31 / %s/cpuset rw shared:2 - cgroup cgroup rw,cpuset\n".formatted(groups)
                        + "35 31 0:32 / %s/memory rw shared:3 - cgroup cgroup rw,memory\n".formatted(groups));
        write(
                "proc/self/cgroup",
                "9:name=systemd:/x\n4:memory:%1$s\n3:cpuset:%1$s\n2:cpu,cpuacct:%1$s\n".formatted(group));
    }

    private void memory2(String group, long limit, long used, long inactive) throws IOException {
        write("sys/fs/cgroup/" + group + "/memory.max", String.valueOf(limit));
        write("sys/fs/cgroup/" + group + "/memory.current", String.valueOf(used));
        write("sys/fs/cgroup/" + group + "/memory.stat", "anon 1\ninactive_file " + inactive + "\nfile 2\n");
    }

    private HostCapacity read() {
        return reader(WorkerSettings.Host.MEASURED).read().capacity();
    }

    private HostReader reader(WorkerSettings.Host said) {
        return new HostReader(said, root.resolve("proc"), root.resolve("sys/devices/system/cpu/online"));
    }

    private static HostCapacity host(int cpuMilli, MemoryBytes memory, MemoryBytes available) {
        return new HostCapacity(OptionalInt.of(cpuMilli), Optional.of(memory), Optional.of(available));
    }

    private static MemoryBytes memory(long gibibytes) {
        return MemoryBytes.ofGibibytes(gibibytes);
    }

    private static long gibibytes(long count) {
        return count << 30;
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }
}
