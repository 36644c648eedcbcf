package dev.ullage.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.cli.doctor.Finding.Level;
import dev.ullage.cli.show.FindingsText;
import dev.ullage.cli.show.Terminal;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DiagnosisTest {
    private final FakeMachine machine = new FakeMachine();

    @Test
    void aMachineOnWhichAllIsWellPassesEveryCheckAndEndsWith0() {
        Diagnosis diagnosis = Diagnosis.of(Diagnosis.CHECKS, machine);

        assertThat(diagnosis.findings().stream().map(finding -> finding.check() + ": " + finding.text()))
                .containsExactly(
                        "driver: NVIDIA driver 590.48.01",
                        "NVML: NVML, driver 590.48.01, devices: 8",
                        "CUDA library: /usr/lib64/libcuda.so.1",
                        "nvidia-smi: /usr/bin/nvidia-smi, devices: 2",
                        "MIG: off, or not available",
                        "MPS: not running",
                        "cgroup: version 2 with dmem",
                        "torch: torch 2.10.0+cu128 in /usr/bin/python3 (3.11.2)",
                        "preload: none",
                        "rank socket: /home/someone/.local/state/ullage/ranks.sock",
                        "temporary folder: /tmp");
        assertThat(diagnosis.findings()).extracting(Finding::remedy).containsOnly(Optional.empty());
        assertThat(diagnosis.exitCode()).isZero();
    }

    @Test
    void warningsEndWith1AndAFailureWith2AndEachSaysWhatToDo() {
        machine.programs.remove("python3");
        assertThat(Diagnosis.of(Diagnosis.CHECKS, machine).exitCode()).isEqualTo(1);
        machine.texts.remove("/proc/driver/nvidia/version");
        Diagnosis diagnosis = Diagnosis.of(Diagnosis.CHECKS, machine);

        assertThat(diagnosis.exitCode()).isEqualTo(2);
        assertThat(diagnosis.findings())
                .allMatch(finding ->
                        finding.level() == Level.PASS || finding.remedy().isPresent());
        assertThat(FindingsText.render(diagnosis.json(), Terminal.NONE))
                .startsWith(
                        "fail  driver           no NVIDIA driver is loaded\n                       -> install the driver")
                .contains("warn  torch            no python3 is on the PATH\n")
                .contains("pass  NVML             NVML, driver 590.48.01, devices: 8\n");
    }

    @Test
    void onANarrowTerminalASentenceStaysBesideItsName() {
        machine.texts.remove("/proc/driver/nvidia/version");
        String text =
                FindingsText.render(Diagnosis.of(Diagnosis.CHECKS, machine).json(), new Terminal(true, false, 60));

        // A path is one word.
        assertThat(text.lines()).allMatch(line -> line.length() <= 60 || line.endsWith("/ranks.sock"));
        assertThat(text)
                .startsWith(
                        """
                        fail  driver           no NVIDIA driver is loaded
                                               -> install the driver and load its
                                                  module; without a GPU use
                                                  --simulate, for example 4xH100-80G
                        """);
    }

    /** Case H01: strict JSON with null for what is not there. */
    @Test
    void theDocumentHasEveryCheckWithEveryField() throws JsonProcessingException {
        machine.programs.clear();
        JsonNode document = new JsonMapper()
                .readTree(Diagnosis.of(Diagnosis.CHECKS, machine).json().toString());

        assertThat(document.path("schema").intValue()).isEqualTo(1);
        assertThat(document.path("result").textValue()).isEqualTo("warn");
        assertThat(document.path("checks")).hasSize(Diagnosis.CHECKS.size()).allSatisfy(check -> {
            assertThat(check.path("result").textValue()).isIn("pass", "warn", "fail");
            assertThat(check.has("remedy")).isTrue();
            assertThat(check.path("remedy").isNull())
                    .isEqualTo(check.path("result").textValue().equals("pass"));
        });
        assertThat(document.path("errors").isArray()).isTrue();
    }

    @Test
    void aDriverIsThereWhenItsModuleIsAndItsDeviceCanBeOpened() {
        machine.existing.remove("/dev/nvidiactl");
        check(new DriverCheck(), Level.FAIL, "NVIDIA driver 590.48.01 is loaded, but /dev/nvidiactl is not here");
        machine.texts.remove("/proc/driver/nvidia/version");
        check(new DriverCheck(), Level.FAIL, "no NVIDIA driver is loaded");
        machine.existing.add("/dev/dxg");
        check(new DriverCheck(), Level.PASS, "through WSL");
    }

    @Test
    void withoutNvmlTheToolOfTheLastResortDecides() {
        machine.nvml = new Machine.Nvml(
                Optional.empty(), 0, List.of(), "NVML library 'x' was not found", Optional.of("set it"));
        check(new NvmlCheck(), Level.WARN, "NVML library 'x' was not found; nvidia-smi will be run instead");
        machine.programs.remove("nvidia-smi");
        check(new NvmlCheck(), Level.FAIL, "NVML library 'x' was not found");
        assertThat(new NvmlCheck().look(machine).remedy()).contains("set it");
        machine.nvml = new Machine.Nvml(Optional.of("NVML"), 7, List.of("device 3: GPU_IS_LOST"), "", Optional.empty());
        check(new NvmlCheck(), Level.WARN, "NVML, devices: 7; device 3: GPU_IS_LOST");
        machine.nvml = new Machine.Nvml(Optional.of("NVML"), 0, List.of(), "", Optional.empty());
        check(new NvmlCheck(), Level.FAIL, "NVML, devices: 0");
    }

    @Test
    void cudasLibraryIsLookedForAndNotLoaded() {
        machine.existing.remove("/usr/lib64/libcuda.so.1");
        check(new CudaCheck(), Level.WARN, "libcuda.so.1 is in none of the usual folders");
        machine.variables.put("LD_LIBRARY_PATH", "/opt/a::/opt/b");
        machine.existing.add("/opt/b/libcuda.so.1");
        check(new CudaCheck(), Level.PASS, "/opt/b/libcuda.so.1");
    }

    @Test
    void aToolThatHangsIsWarnedOf() {
        machine.fails(FakeMachine.SMI + " -L", "it gave no answer within 20 s");
        check(new SmiCheck(), Level.WARN, "/usr/bin/nvidia-smi cannot be used: it gave no answer within 20 s");
        machine.programs.remove("nvidia-smi");
        check(new SmiCheck(), Level.WARN, "not on the PATH");
        check(new MigCheck(), Level.WARN, "cannot be told");
    }

    @Test
    void aChangeOfMigModeThatWaitsIsWarnedOf() {
        String query = FakeMachine.SMI + " --query-gpu=index,mig.mode.current,mig.mode.pending";
        machine.prints(query, "0, Disabled, Enabled\n1, Enabled, Enabled\n");
        check(new MigCheck(), Level.WARN, "waits for a reset of GPU 0");
        machine.prints(query, "0, Disabled, Disabled\n1, Enabled, Enabled\n");
        check(new MigCheck(), Level.PASS, "on for GPU 1: their instances are the devices");
        machine.prints(query, "0, Disabled, Disabled\n1, [GPU requires reset], [GPU requires reset]\n");
        check(new MigCheck(), Level.WARN, "cannot be told of: 1, [GPU requires reset], [GPU requires reset]");
    }

    @Test
    void mpsWithoutItsDaemonAndLimitsOfItsOwnAreWarnedOf() {
        machine.existing.add("/tmp/nvidia-mps/control");
        check(new MpsCheck(), Level.PASS, "a control daemon runs in /tmp/nvidia-mps");
        machine.variables.put("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "0=1G");
        check(new MpsCheck(), Level.WARN, "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT is set");
        machine.variables.put("CUDA_MPS_PIPE_DIRECTORY", "/run/mps");
        check(new MpsCheck(), Level.WARN, "CUDA_MPS_PIPE_DIRECTORY=/run/mps has no control daemon");
    }

    @Test
    void whatTheKernelCanHoldIsSaid() {
        machine.texts.put("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
        check(new CgroupCheck(), Level.PASS, "version 2 without dmem (kernel 6.14)");
        machine.texts.remove("/sys/fs/cgroup/cgroup.controllers");
        check(new CgroupCheck(), Level.WARN, "version 2 is not mounted");
    }

    @Test
    void torchIsThatOfThePythonFound() {
        machine.prints(FakeMachine.PYTHON + " -c", "3.11.2 -\n");
        check(new TorchCheck(), Level.WARN, "/usr/bin/python3 (3.11.2) has no torch");
        machine.prints(FakeMachine.PYTHON + " -c", "3.6.9 1.7.1\n");
        check(new TorchCheck(), Level.WARN, "torch 1.7.1 in /usr/bin/python3 (3.6.9) cannot be held to a limit");
        machine.prints(FakeMachine.PYTHON + " -c", "3.8.10 1.13.1\n");
        check(new TorchCheck(), Level.PASS, "torch 1.13.1 in /usr/bin/python3 (3.8.10)");
        machine.prints(FakeMachine.PYTHON + " -c", "hello\n");
        check(new TorchCheck(), Level.WARN, "does not tell its version: it prints something else");
    }

    @Test
    void aPreloadedLimiterIsWarnedOfAndAnAllocatorIsNot() {
        machine.variables.put("LD_PRELOAD", "libjemalloc.so.2");
        check(new PreloadCheck(), Level.PASS, "libjemalloc.so.2");
        machine.texts.put("/etc/ld.so.preload", "# comment\n/usr/local/vgpu/libvgpu.so\n");
        check(new PreloadCheck(), Level.WARN, "/usr/local/vgpu/libvgpu.so: may be a limiter of its own");
        machine.texts.put("/etc/ld.so.preload", "/opt/gone.so\n");
        check(new PreloadCheck(), Level.WARN, "/opt/gone.so does not exist");
    }

    @Test
    void theRankSocketNeedsAShortPathThatCanBeWrittenTo() {
        machine.readOnly.add("/home");
        check(
                new SocketCheck(),
                Level.FAIL,
                "/home/someone/.local/state/ullage/ranks.sock cannot be made: /home cannot be written to");
        machine.state = Path.of("/tmp/" + "a".repeat(91));
        check(new SocketCheck(), Level.PASS, "ranks.sock");
        machine.state = Path.of("/tmp/" + "a".repeat(92));
        check(new SocketCheck(), Level.FAIL, "has 108 bytes, a socket's path has at most 107");
    }

    @Test
    void aTemporaryFolderThatNothingMayRunFromFails() {
        machine.texts.put("/proc/self/mounts", "/dev/sda1 / ext4 rw 0 0\ntmpfs /tmp tmpfs rw,noexec 0 0\n");
        check(new TemporaryFolderCheck(), Level.FAIL, "/tmp is mounted noexec");
        machine.texts.put("/proc/self/mounts", "x / ext4 rw 0 0\nx /tmp/b tmpfs rw,noexec 0 0\n");
        check(new TemporaryFolderCheck(), Level.PASS, "/tmp");
        machine.readOnly.add("/tmp");
        check(new TemporaryFolderCheck(), Level.FAIL, "/tmp cannot be written to");
    }

    private void check(Check check, Level level, String text) {
        Finding finding = check.look(machine);
        assertThat(finding.level()).as(finding.text()).isEqualTo(level);
        assertThat(finding.text()).contains(text);
    }
}
