package dev.ullage.cli.run;

import dev.ullage.cli.run.LaunchRequest.Form;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.worker.probe.VisibleDevices;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What is run in the end, and in which environment. Pure.
 *
 * @param command with the client in front of each rank
 * @param variables those that differ from the caller's; an empty value means that the variable is taken away
 * @param notes what was changed about the caller's own words, for people
 */
record RunPlan(List<String> command, NavigableMap<String, Optional<String>> variables, List<String> notes) {
    private static final String VISIBLE = "CUDA_VISIBLE_DEVICES";
    private static final List<String> CLIENT = List.of("ullage", "exec");

    /**
     * What goes into the environment of the ranks.
     *
     * @param python the interpreter for the client where the rank's command names none
     * @param isRequired whether a rank must not start without a limit
     */
    record Surroundings(
            Optional<String> socket,
            Optional<String> clientFolder,
            Optional<String> job,
            Optional<String> policy,
            String python,
            boolean isRequired) {}

    static RunPlan of(
            LaunchRequest request,
            RunTerms terms,
            RunChecks.Verdict verdict,
            Surroundings surroundings,
            Map<String, String> variables) {
        NavigableMap<String, Optional<String>> changed = new TreeMap<>();
        List<String> notes = new ArrayList<>();
        surroundings.socket().ifPresent(path -> changed.put("ULLAGE_SOCKET", Optional.of(path)));
        surroundings.job().ifPresent(job -> changed.put("ULLAGE_JOB", Optional.of(job)));
        surroundings.policy().ifPresent(policy -> changed.put("ULLAGE_POLICY", Optional.of(policy)));
        surroundings
                .clientFolder()
                .ifPresent(folder -> changed.put("PYTHONPATH", Optional.of(path(folder, variables))));
        boolean hasNone = verdict.devices().map(List::isEmpty).orElse(false);
        if (hasNone) {
            changed.put(VISIBLE, Optional.of(""));
            changed.put("NVIDIA_VISIBLE_DEVICES", Optional.of("void"));
            return new RunPlan(request.command(), changed, notes);
        }
        List<String> launcher = new ArrayList<>(request.launcherCommand());
        if (request.launcher() == Launcher.DEEPSPEED) {
            if (terms.visibleDevices().isPresent() || terms.devices().isPresent()) {
                includeTheList(request, verdict, launcher, changed, notes);
            }
        } else {
            verdict.devices().ifPresent(devices -> narrow(terms, devices, changed, notes));
        }
        if (terms.ranksPerDevice() > 1) {
            verdict.devices().ifPresent(devices -> changed.put("ULLAGE_DEVICES", Optional.of(uuids(devices))));
        }
        boolean isLeft = request.isWrapped() || request.reasonNotToWrap().isPresent();
        List<String> command = isLeft ? whole(launcher, request) : wrapped(request, launcher, surroundings);
        return new RunPlan(List.copyOf(command), changed, List.copyOf(notes));
    }

    /** The same, with one more variable for the ranks. */
    RunPlan with(String name, String value) {
        NavigableMap<String, Optional<String>> more = new TreeMap<>(variables);
        more.put(name, Optional.of(value));
        return new RunPlan(command, more, notes);
    }

    private static String path(String folder, Map<String, String> variables) {
        String before = variables.getOrDefault("PYTHONPATH", "");
        return before.isEmpty() ? folder : folder + ":" + before;
    }

    private static List<String> whole(List<String> launcher, LaunchRequest request) {
        List<String> command = new ArrayList<>(launcher);
        command.addAll(request.rankCommand());
        return command;
    }

    /** Lets the job see these devices only, unless it does already. */
    private static void narrow(
            RunTerms terms,
            List<DeviceInfo> devices,
            NavigableMap<String, Optional<String>> changed,
            List<String> notes) {
        if (OwnInstances.areNeeded(devices)) {
            changed.put(VISIBLE, Optional.of(uuids(devices)));
            changed.put(OwnInstances.VARIABLE, Optional.of(uuids(devices)));
            notes.add(OwnInstances.NOTE);
            return;
        }
        String list = devices.stream().anyMatch(device -> device.kind() == DeviceKind.SIMULATED)
                ? indices(devices)
                : uuids(devices);
        Optional<String> before = terms.visibleDevices();
        boolean isSame = before.map(text -> VisibleDevices.parse(text, devices))
                .filter(seen ->
                        seen.tokens() == devices.size() && seen.devices().equals(devices))
                .isPresent();
        if (isSame) {
            return;
        }
        changed.put(VISIBLE, Optional.of(list));
        before.filter(text -> text.split(",").length != devices.size())
                .ifPresent(text -> notes.add(VISIBLE + "=" + text + " is replaced by " + list));
    }

    /**
     * deepspeed counts slots over all devices of the host, drops the caller's list where there is an option, and makes
     * a list of its own for the ranks: so the list becomes its option.
     */
    private static void includeTheList(
            LaunchRequest request,
            RunChecks.Verdict verdict,
            List<String> launcher,
            NavigableMap<String, Optional<String>> changed,
            List<String> notes) {
        verdict.devices().ifPresent(devices -> changed.put(VISIBLE, Optional.empty()));
        verdict.devices().filter(devices -> request.slots().isEmpty()).ifPresent(devices -> {
            dropCount(launcher);
            launcher.add("--include");
            launcher.add("localhost:" + indices(devices));
            notes.add("deepspeed is given the list as --include localhost:" + indices(devices)
                    + ", which it takes in ascending order");
        });
    }

    private static void dropCount(List<String> launcher) {
        for (int i = launcher.size() - 1; i > 0; i--) {
            String word = launcher.get(i).replace('_', '-');
            if (word.startsWith("--num-gpus=") || word.startsWith("--num-accelerators=")) {
                launcher.remove(i);
            } else if (word.equals("--num-gpus") || word.equals("--num-accelerators")) {
                launcher.remove(i + 1);
                launcher.remove(i);
            }
        }
    }

    private static List<String> wrapped(LaunchRequest request, List<String> launcher, Surroundings surroundings) {
        List<String> rank = request.rankCommand();
        List<String> command = new ArrayList<>(launcher);
        boolean isDeepspeed = request.launcher() == Launcher.DEEPSPEED;
        if (request.form() == Form.PROGRAM && !isDeepspeed) {
            boolean isPython = !rank.isEmpty() && LauncherArguments.isPython(rank.get(0));
            command.addAll(List.of(isPython ? rank.get(0) : surroundings.python(), "-m"));
            command.addAll(CLIENT);
        } else {
            // The launcher starts the client as a module of its own Python, which then starts the script with the same.
            command.removeIf(word -> isDeepspeed && word.equals("--no_python"));
            if (request.form() != Form.MODULE) {
                command.add(isDeepspeed ? "--module" : "-m");
            }
            command.addAll(CLIENT);
        }
        if (surroundings.isRequired()) {
            command.add("--require");
        }
        if (request.form() != Form.PROGRAM) {
            command.add("--python");
        }
        command.add("--");
        if (request.form() != Form.PROGRAM) {
            command.add("-u");
        }
        if (request.form() == Form.MODULE) {
            command.add("-m");
        }
        command.addAll(rank);
        return command;
    }

    private static String indices(List<DeviceInfo> devices) {
        return devices.stream().map(info -> Integer.toString(info.index())).collect(Collectors.joining(","));
    }

    private static String uuids(List<DeviceInfo> devices) {
        return devices.stream().map(info -> info.id().value()).collect(Collectors.joining(","));
    }

    /** As a shell would take it. */
    String text() {
        StringBuilder text = new StringBuilder();
        variables.forEach((name, value) -> text.append(
                        value.map(set -> "export " + name + "=" + quoted(set)).orElse("unset " + name))
                .append('\n'));
        return text.append(command.stream().map(RunPlan::quoted).collect(Collectors.joining(" ")))
                .append('\n')
                .toString();
    }

    private static String quoted(String word) {
        return word.matches("[A-Za-z0-9_@%+=:,./-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
