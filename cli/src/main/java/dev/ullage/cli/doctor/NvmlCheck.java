package dev.ullage.cli.doctor;

/** The library that the readings come from. */
final class NvmlCheck implements Check {
    private static final String NAME = "NVML";

    @Override
    public Finding look(Machine machine) {
        Machine.Nvml nvml = machine.nvml();
        if (nvml.description().isEmpty()) {
            String remedy = nvml.remedy().orElse("see what nvidia-smi and the kernel say (dmesg | grep NVRM)");
            return machine.program("nvidia-smi").isPresent()
                    ? Finding.warn(NAME, nvml.failure() + "; nvidia-smi will be run instead, in whole MiB", remedy)
                    : Finding.fail(NAME, nvml.failure(), remedy);
        }
        String text = nvml.description().get() + ", devices: " + nvml.devices();
        if (!nvml.problems().isEmpty()) {
            return Finding.warn(
                    NAME, text + "; " + String.join("; ", nvml.problems()), "see \"ullage devices\" for each of them");
        }
        return nvml.devices() == 0
                ? Finding.fail(NAME, text, "give this machine or container a GPU, or use --simulate")
                : Finding.pass(NAME, text);
    }
}
