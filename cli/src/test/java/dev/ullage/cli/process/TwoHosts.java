package dev.ullage.cli.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Two hosts with a cable between them: network namespaces of this test alone, gone when it ends. */
final class TwoHosts implements AutoCloseable {
    static final String FIRST_ADDRESS = "10.213.7.1";
    static final String SECOND_ADDRESS = "10.213.7.2";
    private static final long COMMAND_SECONDS = 20;

    private final String first = "ullage-a-" + ProcessHandle.current().pid();
    private final String second = "ullage-b-" + ProcessHandle.current().pid();

    TwoHosts() {
        run("ip", "netns", "add", first);
        run("ip", "netns", "add", second);
        run("ip", "link", "add", "up0", "netns", first, "type", "veth", "peer", "name", "up0", "netns", second);
        configure(first, FIRST_ADDRESS);
        configure(second, SECOND_ADDRESS);
    }

    private static void configure(String namespace, String address) {
        run("ip", "-n", namespace, "address", "add", address + "/24", "dev", "up0");
        run("ip", "-n", namespace, "link", "set", "lo", "up");
        run("ip", "-n", namespace, "link", "set", "up0", "up");
    }

    /** The command, to be run on the first host. */
    List<String> onFirst(List<String> command) {
        return inside(first, command);
    }

    List<String> onSecond(List<String> command) {
        return inside(second, command);
    }

    private static List<String> inside(String namespace, List<String> command) {
        List<String> all = new ArrayList<>(List.of("ip", "netns", "exec", namespace));
        all.addAll(command);
        return all;
    }

    void cutTheCable() {
        run("ip", "-n", second, "link", "set", "up0", "down");
    }

    void mendTheCable() {
        run("ip", "-n", second, "link", "set", "up0", "up");
    }

    private static void run(String... command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new AssertionError(String.join(" ", command) + " failed: " + output);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    @Override
    public void close() {
        run("ip", "netns", "delete", first);
        run("ip", "netns", "delete", second);
    }
}
