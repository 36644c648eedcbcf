package dev.ullage.config;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** This machine's name. The kernel is asked first: it needs no name service. */
public final class HostName {
    private static final Path KERNEL = Path.of("/proc/sys/kernel/hostname");

    private HostName() {}

    /** The name; {@code localhost} when nothing knows it. */
    public static String of(Map<String, String> environment) {
        try {
            String name = Files.readString(KERNEL).strip();
            if (!name.isEmpty()) {
                return name;
            }
        } catch (IOException e) {
            // Not Linux: ask elsewhere.
        }
        String variable = environment.getOrDefault("HOSTNAME", "").strip();
        return variable.isEmpty() ? resolved() : variable;
    }

    private static String resolved() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "localhost";
        }
    }
}
