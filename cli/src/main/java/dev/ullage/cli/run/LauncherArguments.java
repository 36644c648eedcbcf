package dev.ullage.cli.run;

import dev.ullage.cli.run.LaunchRequest.Form;
import dev.ullage.cli.run.LaunchRequest.Size;
import dev.ullage.cli.run.LaunchRequest.Start;
import dev.ullage.cli.run.OptionTable.Parsed;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the command line of a launcher: who starts the ranks, how many, and where their own command begins. Pure; a
 * host file is not opened, so what only it says stays unknown.
 */
final class LauncherArguments {
    private static final Pattern PYTHON = Pattern.compile("python[0-9.]*");
    private static final Pattern COUNT = Pattern.compile("\\d{1,7}");
    private static final Pattern NODES = Pattern.compile("(?:\\d{1,7}[:-])?(\\d{1,7})");
    private static final Set<String> TORCHRUN_MODULES =
            Set.of("torch.distributed.run", "torch.distributed.launch", "torch.distributed.launcher");
    private static final Set<String> DEEPSPEED_MODULES = Set.of("deepspeed", "deepspeed.launcher.runner");
    private static final Set<String> MPIRUN_NAMES = Set.of("mpirun", "mpiexec", "orterun", "prterun", "mpiexec.hydra");
    private static final Set<String> LOCAL_HOSTS = Set.of("localhost", "127.0.0.1", "::1");

    private final Launcher launcher;
    private final List<String> command;
    private final Map<String, String> variables;
    private final Parsed options;
    private final List<String> problems = new ArrayList<>();

    private LauncherArguments(Launcher launcher, List<String> command, Map<String, String> variables, int start) {
        this.launcher = launcher;
        this.command = command;
        this.variables = variables;
        this.options = LauncherOptions.of(launcher).parse(command, start);
    }

    /** @param variables the environment the launcher will have; srun takes its defaults from there */
    static LaunchRequest read(List<String> command, Map<String, String> variables) {
        String program = baseName(command.get(0));
        if (program.equals("torchrun")) {
            return new LauncherArguments(Launcher.TORCHRUN, command, variables, 1).request();
        }
        if (program.equals("deepspeed")) {
            return new LauncherArguments(Launcher.DEEPSPEED, command, variables, 1).request();
        }
        if (program.equals("srun")) {
            return new LauncherArguments(Launcher.SRUN, command, variables, 1).request();
        }
        if (program.equals("horovodrun")) {
            return new LauncherArguments(Launcher.HOROVODRUN, command, variables, 1).request();
        }
        if (MPIRUN_NAMES.contains(program)) {
            return new LauncherArguments(Launcher.MPIRUN, command, variables, 1).request();
        }
        return isPython(program) ? python(command, variables) : unknown(command, program);
    }

    static boolean isPython(String program) {
        return PYTHON.matcher(baseName(program)).matches();
    }

    /** {@code python3 -m torch.distributed.run}, or one process. */
    private static LaunchRequest python(List<String> command, Map<String, String> variables) {
        int at = 1;
        while (at < command.size() && command.get(at).matches("-[uBOqsEI]+")) {
            at++;
        }
        if (at + 1 < command.size() && command.get(at).equals("-m")) {
            String module = command.get(at + 1);
            if (TORCHRUN_MODULES.contains(module)) {
                return new LauncherArguments(Launcher.TORCHRUN, command, variables, at + 2).request();
            }
            if (DEEPSPEED_MODULES.contains(module)) {
                return new LauncherArguments(Launcher.DEEPSPEED, command, variables, at + 2).request();
            }
        }
        return new LaunchRequest(
                Launcher.PLAIN,
                command,
                new Start(0, Form.PROGRAM, Optional.empty()),
                Size.ofOneHost(1),
                Optional.empty(),
                List.of());
    }

    private static LaunchRequest unknown(List<String> command, String program) {
        String reason =
                program + " is no launcher that is known here, so where the command of its ranks begins cannot be told";
        return new LaunchRequest(
                Launcher.UNKNOWN,
                command,
                new Start(command.size(), Form.PROGRAM, Optional.of(reason)),
                Size.UNKNOWN,
                Optional.empty(),
                List.of());
    }

    private LaunchRequest request() {
        Size size = size();
        Optional<List<Integer>> slots = launcher == Launcher.DEEPSPEED ? slots() : Optional.empty();
        Optional<String> notWrapped = options.problem()
                .map(problem ->
                        launcher.label() + " " + problem + ", so where the command of its ranks begins cannot be told")
                .or(this::notWrapped);
        if (options.problem().isEmpty() && options.end() >= command.size()) {
            problems.add(launcher.label() + " has no command to run");
        }
        return new LaunchRequest(
                launcher,
                command,
                new Start(options.end(), form(), notWrapped),
                size,
                slots,
                problems.stream().distinct().toList());
    }

    private Form form() {
        boolean startsPython = launcher == Launcher.TORCHRUN || launcher == Launcher.DEEPSPEED;
        if (!startsPython || options.has("no-python")) {
            return Form.PROGRAM;
        }
        return options.has("module", "m") ? Form.MODULE : Form.SCRIPT;
    }

    private Optional<String> notWrapped() {
        if (launcher == Launcher.SRUN && options.has("multi-prog")) {
            return Optional.of("srun --multi-prog takes the commands of its ranks from a file");
        }
        if (launcher == Launcher.TORCHRUN && options.has("run-path")) {
            return Optional.of("torchrun --run-path starts no command for a rank");
        }
        if (launcher == Launcher.MPIRUN
                && command.subList(Math.min(options.end(), command.size()), command.size())
                        .contains(":")) {
            return Optional.of("mpirun starts several programs, separated by \":\"");
        }
        return Optional.empty();
    }

    private Size size() {
        return switch (launcher) {
            case TORCHRUN -> torchrun();
            case SRUN -> srun();
            case DEEPSPEED -> deepspeed();
            default -> mpi();
        };
    }

    private Size torchrun() {
        OptionalInt hosts = options.value("nnodes").map(this::nodes).orElse(OptionalInt.of(1));
        String each = options.value("nproc-per-node")
                .or(() -> Optional.ofNullable(variables.get("PET_NPROC_PER_NODE")))
                .orElse("1");
        if (each.equals("gpu") || each.equals("auto")) {
            return Size.onePerDevice(hosts);
        }
        if (each.equals("cpu")) {
            return new Size(OptionalInt.empty(), OptionalInt.empty(), hosts, false);
        }
        OptionalInt perHost = count("--nproc-per-node", each);
        return new Size(product(hosts, perHost), perHost, hosts, false);
    }

    /** {@code 2} or {@code 1:4}, of which the most counts. */
    private OptionalInt nodes(String text) {
        Matcher matcher = NODES.matcher(text);
        if (matcher.matches()) {
            return OptionalInt.of(Integer.parseInt(matcher.group(1)));
        }
        problems.add("the number of nodes must be a count or a range, not '" + text + "'");
        return OptionalInt.empty();
    }

    private Size srun() {
        OptionalInt nodes = options.value("nodes", "N")
                .or(() -> variable("SLURM_JOB_NUM_NODES", "SLURM_NNODES"))
                .map(this::nodes)
                .orElse(OptionalInt.empty());
        OptionalInt each = options.value("ntasks-per-node")
                .or(() -> variable("SLURM_NTASKS_PER_NODE"))
                .map(text -> count("--ntasks-per-node", text))
                .orElse(OptionalInt.empty());
        OptionalInt ranks = options.value("ntasks", "n")
                .or(() -> each.isPresent() ? Optional.empty() : variable("SLURM_NTASKS", "SLURM_NPROCS"))
                .map(text -> count("--ntasks", text))
                .orElseGet(
                        () -> each.isPresent() ? product(nodes, each) : nodes.isPresent() ? nodes : OptionalInt.of(1));
        OptionalInt hosts = nodes.isEmpty() && ranks.isPresent() && ranks.getAsInt() == 1 ? OptionalInt.of(1) : nodes;
        zeroGpus();
        boolean isOne = hosts.isPresent() && hosts.getAsInt() == 1;
        return new Size(ranks, each.isPresent() ? each : isOne ? ranks : OptionalInt.empty(), hosts, false);
    }

    private void zeroGpus() {
        for (String name : List.of("gpus", "G", "gpus-per-node", "gpus-per-task")) {
            Optional<String> value = options.value(name);
            if (value.filter(text -> text.matches("(?:.*:)?0")).isPresent()) {
                problems.add("srun asks for no device (" + name + "=" + value.get()
                        + "), and a rank without one needs no limit; run it without \"ullage run\"");
            }
        }
    }

    private Optional<String> variable(String... names) {
        for (String name : names) {
            String value = variables.getOrDefault(name, "");
            if (!value.isBlank()) {
                return Optional.of(value.strip());
            }
        }
        return Optional.empty();
    }

    private Size deepspeed() {
        OptionalInt hosts = options.value("num-nodes")
                .map(text -> count("--num_nodes", text))
                .orElse(isOnThisHost() ? OptionalInt.of(1) : OptionalInt.empty());
        if (options.has("exclude", "e")) {
            variable("CUDA_VISIBLE_DEVICES")
                    .ifPresent(list -> problems.add("deepspeed --exclude drops CUDA_VISIBLE_DEVICES=" + list
                            + ": say with --include which devices to use"));
            return new Size(OptionalInt.empty(), OptionalInt.empty(), hosts, false);
        }
        Optional<String> each = options.value("num-gpus", "num-accelerators").filter(text -> !text.equals("-1"));
        if (each.isEmpty()) {
            return slots().map(list -> list.size()).map(Size::ofOneHost).orElseGet(() -> Size.onePerDevice(hosts));
        }
        OptionalInt perHost = count("--num_gpus", each.get());
        return new Size(product(hosts, perHost), perHost, hosts, false);
    }

    /** Without a host file, deepspeed starts its ranks here. */
    private boolean isOnThisHost() {
        return !options.has("hostfile", "H") && include().stream().allMatch(part -> LOCAL_HOSTS.contains(host(part)));
    }

    private List<String> include() {
        return options.value("include", "i")
                .map(text -> List.of(text.split("@")))
                .orElse(List.of());
    }

    /** The numbers of {@code --include localhost:4,5}. */
    private Optional<List<Integer>> slots() {
        List<String> parts = include();
        if (parts.size() != 1 || !isOnThisHost() || !parts.get(0).contains(":")) {
            return Optional.empty();
        }
        List<Integer> slots = new ArrayList<>();
        for (String text : parts.get(0).substring(parts.get(0).indexOf(':') + 1).split(",", -1)) {
            if (!COUNT.matcher(text.strip()).matches()) {
                problems.add("--include " + parts.get(0) + ": '" + text + "' is no device number");
                return Optional.empty();
            }
            slots.add(Integer.parseInt(text.strip()));
        }
        return Optional.of(List.copyOf(slots));
    }

    /** mpirun and horovodrun: a count, and hosts with slots. */
    private Size mpi() {
        OptionalInt ranks = options.value("np", "n", "c", "num-proc")
                .map(text -> count("-np", text))
                .orElse(OptionalInt.empty());
        Optional<String> list = options.value("host", "hosts", "H");
        boolean hasFile = options.has("hostfile", "machinefile", "f", "default-hostfile", "host-discovery-script");
        boolean isLocal = list.map(
                        text -> List.of(text.split(",")).stream().allMatch(part -> LOCAL_HOSTS.contains(host(part))))
                .orElse(!hasFile
                        && variable("SLURM_JOB_ID", "LSB_JOBID", "PBS_JOBID").isEmpty());
        OptionalInt hosts = isLocal
                ? OptionalInt.of(1)
                : list.map(text -> OptionalInt.of((int) List.of(text.split(",")).stream()
                                .map(LauncherArguments::host)
                                .distinct()
                                .count()))
                        .orElse(OptionalInt.empty());
        OptionalInt each = options.has("pernode")
                ? OptionalInt.of(1)
                : options.value("npernode", "ppn", "perhost")
                        .map(text -> count("-npernode", text))
                        .orElse(isLocal ? ranks : OptionalInt.empty());
        return new Size(ranks.isPresent() ? ranks : product(hosts, each), each, hosts, false);
    }

    private static String host(String part) {
        int colon = part.indexOf(':');
        return colon > 0 && !part.equals("::1") ? part.substring(0, colon) : part;
    }

    private OptionalInt count(String what, String text) {
        if (COUNT.matcher(text.strip()).matches()) {
            int value = Integer.parseInt(text.strip());
            if (value == 0) {
                problems.add(what + " 0 asks for no ranks");
            }
            return OptionalInt.of(value);
        }
        problems.add(what + " must be a count, not '" + text + "'");
        return OptionalInt.empty();
    }

    private static OptionalInt product(OptionalInt one, OptionalInt other) {
        return one.isPresent() && other.isPresent()
                ? OptionalInt.of(Math.multiplyExact(one.getAsInt(), other.getAsInt()))
                : OptionalInt.empty();
    }

    private static String baseName(String program) {
        return program.substring(program.lastIndexOf('/') + 1);
    }
}
