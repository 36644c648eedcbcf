package dev.ullage.cli.doctor;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Libraries that are put before all others: some of them change what the driver seems to say. */
final class PreloadCheck implements Check {
    private static final String NAME = "preload";
    private static final Path SYSTEM_WIDE = Path.of("/etc/ld.so.preload");
    private static final Pattern LIMITER = Pattern.compile("(?i).*(?:vgpu|hami|cuda|nvml|nvshare|gemini|gpushare).*");

    @Override
    public Finding look(Machine machine) {
        List<String> libraries = new ArrayList<>();
        machine.variable("LD_PRELOAD").ifPresent(list -> addAll(libraries, list));
        machine.text(SYSTEM_WIDE).ifPresent(text -> addAll(libraries, text));
        if (libraries.isEmpty()) {
            return Finding.pass(NAME, "none");
        }
        List<String> limiters = libraries.stream()
                .filter(library -> LIMITER.matcher(library).matches())
                .toList();
        if (!limiters.isEmpty()) {
            return Finding.warn(
                    NAME,
                    String.join(", ", limiters) + ": may be a limiter of its own, which changes the figures seen here",
                    "run the worker without it (LD_PRELOAD, /etc/ld.so.preload)");
        }
        List<String> missing = libraries.stream()
                .filter(library -> library.startsWith("/") && !machine.exists(Path.of(library)))
                .toList();
        return missing.isEmpty()
                ? Finding.pass(NAME, String.join(", ", libraries))
                : Finding.warn(
                        NAME,
                        String.join(", ", missing) + " does not exist",
                        "take it out of LD_PRELOAD or /etc/ld.so.preload");
    }

    private static void addAll(List<String> libraries, String list) {
        for (String library : list.replaceAll("(?m)#.*$", "").split("[\\s:]+", -1)) {
            if (!library.isEmpty()) {
                libraries.add(library);
            }
        }
    }
}
