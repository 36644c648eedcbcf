package dev.ullage.cli.doctor;

import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The kernel's part of the driver. */
final class DriverCheck implements Check {
    private static final String NAME = "driver";
    private static final Path VERSION = Path.of("/proc/driver/nvidia/version");
    private static final Path WSL = Path.of("/dev/dxg");
    private static final Path CONTROL = Path.of("/dev/nvidiactl");
    private static final Pattern NUMBER = Pattern.compile("\\b(\\d{3}\\.\\d+(?:\\.\\d+)?)\\b");

    @Override
    public Finding look(Machine machine) {
        Optional<String> version = machine.text(VERSION).map(DriverCheck::version);
        if (version.isPresent() && !machine.exists(CONTROL)) {
            return Finding.fail(
                    NAME,
                    "NVIDIA driver " + version.get() + " is loaded, but /dev/nvidiactl is not here",
                    "in a container: give it the devices (--gpus, or the NVIDIA runtime); else run nvidia-modprobe");
        }
        if (version.isPresent()) {
            return Finding.pass(NAME, "NVIDIA driver " + version.get());
        }
        if (machine.exists(WSL)) {
            return Finding.pass(NAME, "the driver of Windows, through WSL; it does not tell the memory of processes");
        }
        return Finding.fail(
                NAME,
                "no NVIDIA driver is loaded",
                "install the driver and load its module; without a GPU use --simulate, for example 4xH100-80G");
    }

    private static String version(String text) {
        Matcher number = NUMBER.matcher(text);
        return number.find() ? number.group(1) : "of an unknown version";
    }
}
